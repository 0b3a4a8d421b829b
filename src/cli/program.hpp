// What the programs of this folder have in common: descriptors are in order, passwords go out of
// sight, errors become one line and an exit code.
#pragma once

#include "cli/command.hpp"

#include <span>

namespace holdfast::cli {

// Runs `main` with the arguments behind the program's name.
int run_program(std::span<char*> raw, int (*main)(Arguments arguments));

}  // namespace holdfast::cli

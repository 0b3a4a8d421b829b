// Keeps passwords out of the process list and of what the command inherits.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace holdfast::cli {

// Variables that the command must not see.
std::vector<std::string> secret_variables();

// Overwrites, in the memory that /proc/PID/cmdline shows, each password in a store URL among the
// arguments before "--". True if there was one. Call it after the arguments were copied and before
// any fork.
bool blank_passwords(std::span<char*> arguments) noexcept;

}  // namespace holdfast::cli

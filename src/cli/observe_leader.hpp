// `holdfast elect NAME --observe`.
#pragma once

#include "cli/run_options.hpp"

namespace holdfast::cli {

// Prints who leads, now and at each change, until standard output is closed or a signal ends us.
int observe_leader(const RunOptions& options);

}  // namespace holdfast::cli

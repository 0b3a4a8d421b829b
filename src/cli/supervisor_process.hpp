// What runs inside the supervisor.
#pragma once

#include "cli/supervisor.hpp"

namespace holdfast::cli {

// Never returns. `process_group`: the wrapper's, where the command belongs.
[[noreturn]] void run_supervisor(const SupervisorPlan& plan, pid_t process_group,
                                 SupervisorLink wrapper) noexcept;

}  // namespace holdfast::cli

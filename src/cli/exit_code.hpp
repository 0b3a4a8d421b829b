// The exit codes that scripts and monitoring rely on; docs/reference/cli.md lists them.
#pragma once

#include <system_error>

namespace holdfast::cli {

enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,        // a demo, a simulation or a check found what it looked for
  exit_usage = 64,        // wrong usage, wrong URL, impossible times
  exit_unavailable = 69,  // the store could not be reached, or refused us
  exit_busy = 75,         // somebody else holds it; --busy-exit changes it
  exit_lost = 76,         // the lease was lost; the command was stopped
  exit_not_executable = 126,
  exit_not_found = 127,
};

// For an error before the command was started. Busy and timed out are exit_busy.
int exit_code_for(std::error_code code) noexcept;

// For a wait status: the command's own code, or 128 + the signal that ended it.
int exit_code_of_status(int status) noexcept;

// For the errno of an exec that failed.
int exit_code_of_exec(int error) noexcept;

}  // namespace holdfast::cli

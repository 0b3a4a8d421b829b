#include "cli/exit_code.hpp"

#include <holdfast/error.hpp>

#include <cerrno>

#include <sys/wait.h>

namespace holdfast::cli {

int exit_code_for(std::error_code code) noexcept {
  if (code.category() != error_category()) {
    return exit_unavailable;
  }
  switch (static_cast<errc>(code.value())) {
    case errc::busy:
    case errc::timed_out:
      return exit_busy;
    case errc::invalid_url:
    case errc::invalid_name:
    case errc::invalid_options:
      return exit_usage;
    case errc::expired:
    case errc::taken:
    case errc::broken:
    case errc::max_hold:
      return exit_lost;
    default:
      return exit_unavailable;
  }
}

int exit_code_of_status(int status) noexcept {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int exit_code_of_exec(int error) noexcept {
  return error == ENOENT ? exit_not_found : exit_not_executable;
}

}  // namespace holdfast::cli

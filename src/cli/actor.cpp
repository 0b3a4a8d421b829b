#include "cli/actor.hpp"

#include "cli/exit_code.hpp"

#include <array>
#include <csignal>
#include <system_error>
#include <utility>

#include <sys/prctl.h>
#include <unistd.h>

namespace holdfast::cli {

Actor launch_actor(const std::function<void(Descriptor)>& part) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  Descriptor ours{ends[0]};
  Descriptor theirs{ends[1]};
  const pid_t stage = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != stage) {
      _exit(exit_failed);
    }
    ours.reset();
    part(std::move(theirs));
    _exit(exit_ok);
  }
  return {pid, std::move(ours)};
}

}  // namespace holdfast::cli

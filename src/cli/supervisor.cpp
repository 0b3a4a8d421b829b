#include "cli/supervisor.hpp"

#include "cli/start_state.hpp"
#include "cli/supervisor_process.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/prctl.h>
#include <unistd.h>

namespace holdfast::cli {

Supervisor Supervisor::launch(const SupervisorPlan& plan) {
  auto ends = SupervisorLink::make_pair();
  // Whoever of the two dies first, the other inherits the tree.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t group = getpgrp();
  const pid_t pid = fork();
  if (pid < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (pid == 0) {
    ends.first.close();
    run_supervisor(plan, group, std::move(ends.second));
  }
  return {std::move(ends.first), pid};
}

bool Supervisor::start(ChildDeadline deadline, std::vector<std::string> environment) noexcept {
  return link_.send(Order{Order::Type::start, deadline, 0, std::move(environment)});
}

void Supervisor::extend(ChildDeadline deadline) noexcept {
  link_.send(Order{Order::Type::extend, deadline, 0, {}});
}

void Supervisor::forward(int signal) noexcept {
  link_.send(Order{Order::Type::forward, {}, signal, {}});
}

void Supervisor::lose() noexcept {
  link_.send(Order{Order::Type::lose, {}, 0, {}});
  kill(pid_, SIGCONT);  // somebody may have stopped it; now it must act
}

}  // namespace holdfast::cli

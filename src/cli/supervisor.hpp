// The small process between the wrapper and the command: subreaper and parent of the command, with
// its own timer, so that a stopped or killed wrapper still stops the work in time.
//
//   Supervisor supervisor = Supervisor::launch(plan);   // before any thread exists
//   supervisor.start(deadline, {"HOLDFAST_FENCE=42"});
//   while (auto report = supervisor.receive()) { ... }  // when descriptor() is readable
//
// Killed -9 itself, the command dies with it (PR_SET_PDEATHSIG) and the rest of the tree falls to
// the wrapper, which is a subreaper too.
#pragma once

#include "cli/supervisor_link.hpp"
#include "core/child_machine.hpp"

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::cli {

struct SupervisorPlan {
  std::vector<std::string> command{};           // not empty
  std::vector<std::string> hidden_variables{};  // not passed on to the command
  Duration grace{};
  sigset_t started_mask{};  // as the wrapper was started; the command gets it
};

// The wrapper's end. Not thread-safe.
class Supervisor {
 public:
  // Forks. Throws std::system_error. Precondition: one thread only.
  static Supervisor launch(const SupervisorPlan& plan);

  // False if the supervisor cannot be told: then nothing is started.
  bool start(ChildDeadline deadline, std::vector<std::string> environment) noexcept;
  void extend(ChildDeadline deadline) noexcept;
  void forward(int signal) noexcept;
  void lose() noexcept;

  std::optional<Report> receive() { return link_.receive_report(); }
  bool ended() const noexcept { return link_.closed(); }  // it died, or left after `gone`
  int descriptor() const noexcept { return link_.descriptor(); }
  pid_t pid() const noexcept { return pid_; }

 private:
  Supervisor(SupervisorLink link, pid_t pid) noexcept : link_(std::move(link)), pid_(pid) {}

  SupervisorLink link_;
  pid_t pid_;
};

}  // namespace holdfast::cli

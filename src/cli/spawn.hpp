// Starts the command as a child of the supervisor, transparently.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::cli {

struct SpawnPlan {
  std::vector<std::string> arguments{};    // the command and its arguments
  std::vector<std::string> environment{};  // all of it, NAME=VALUE
  pid_t process_group = 0;                 // the wrapper's: terminal and Ctrl-C reach the command
  sigset_t mask{};                         // as the wrapper was started
  bool child_signal_ignored = false;       // SIGCHLD was ignored at the start
};

struct SpawnResult {
  pid_t pid = 0;  // valid if error is 0
  int error = 0;  // errno of fork or exec
};

// Returns once exec has succeeded or failed. The command dies with the calling thread
// (PR_SET_PDEATHSIG); call it on the main thread.
SpawnResult spawn_command(SpawnPlan plan);

// This process' environment with `added` on top and without `removed`.
std::vector<std::string> environment_with(const std::vector<std::string>& added,
                                          const std::vector<std::string>& removed);

}  // namespace holdfast::cli

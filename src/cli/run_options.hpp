// What `holdfast run` was asked to do.
#pragma once

#include <holdfast/options.hpp>

#include "cli/messages.hpp"

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::cli {

struct RunOptions {
  std::string name{};
  std::vector<std::string> command{};  // not empty
  std::string store{};                 // empty: the default store
  LeaseOptions lease{};
  std::optional<Duration> wait = Duration{0};  // unset: for ever
  Duration grace{};                            // from TERM to KILL
  bool shared = false;                         // as one of many readers
  std::uint32_t limit = 0;                     // of a semaphore; 0: a lock
  std::uint32_t permits = 1;                   // of the limit
  std::optional<std::string> value{};          // set: as the leader, who says this of itself
  bool observe = false;                        // only tell who leads; there is no command then
  std::optional<std::string> once{};  // the run id; unset: run whenever the lock can be had
  Duration remember{};                // how long a run stays marked as done
  int busy_exit = 0;
  MessageOptions messages{};
};

// The arguments after `run`. Everything behind the first "--" is the command, byte for byte. An
// int is the exit code of a run that is over already (help). Throws UsageError.
std::variant<RunOptions, int> parse_run(std::span<const std::string> arguments);

// The same for the arguments after `elect`.
std::variant<RunOptions, int> parse_elect(std::span<const std::string> arguments);

// Exact and readable by parse_duration(), as the command gets it: "1500ms", "30s".
std::string exact_duration_text(Duration duration);

}  // namespace holdfast::cli

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
  std::optional<std::string> once{};  // the run id; unset: run whenever the lock can be had
  Duration remember{};                // how long a run stays marked as done
  int busy_exit = 0;
  MessageOptions messages{};
};

// The arguments after `run`. Everything behind the first "--" is the command, byte for byte. An
// int is the exit code of a run that is over already (help). Throws UsageError.
std::variant<RunOptions, int> parse_run(std::span<const std::string> arguments);

// Exact and readable by parse_duration(), as the command gets it: "1500ms", "30s".
std::string exact_duration_text(Duration duration);

}  // namespace holdfast::cli

// The options of one command. Each has a variable: --busy-exit is HOLDFAST_BUSY_EXIT.
//
//   CommandLine line{"run", "Run a command while holding a lock."};
//   line.positional("NAME", options.name, "what to lock");
//   line.option("--ttl", options.ttl, "DURATION", "how long ...");
//   if (const auto code = line.parse(arguments)) { return *code; }
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace holdfast::cli {

// Wrong usage: one line for a person. Ends the command with exit_usage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class CommandLine {
 public:
  CommandLine(const std::string& command, const std::string& about);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // The referenced values must outlive parse(); what is not given keeps its value.
  void positional(const std::string& name, std::string& value, const std::string& help,
                  bool required = true);
  void option(const std::string& name, std::string& value, const std::string& kind,
              const std::string& help);
  // The same where an empty text must not pass for one that was not given.
  void option(const std::string& name, std::optional<std::string>& value, const std::string& kind,
              const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  void usage(const std::string& line);   // instead of the generated line
  void footer(const std::string& text);  // examples, exit codes

  // An exit code if the command is to end now: help was printed. Throws UsageError.
  std::optional<int> parse(std::span<const std::string> arguments);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::cli

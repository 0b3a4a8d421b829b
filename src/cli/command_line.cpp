#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <vector>

namespace holdfast::cli {

namespace {

// "-q,--quiet" -> "HOLDFAST_QUIET"
std::string variable_of(const std::string& option) {
  std::string name = "HOLDFAST_" + option.substr(option.find("--") + 2);
  for (char& letter : name) {
    letter = letter == '-' ? '_' : static_cast<char>(std::toupper(letter));
  }
  return name;
}

// CLI11 says several things on several lines; a person and a log want one.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') {
    text.pop_back();
  }
  return text;
}

// CLI11's own usage line does not know of "-- COMMAND".
class UsageFormatter final : public CLI::Formatter {
 public:
  std::string usage{};

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return usage.empty() ? CLI::Formatter::make_usage(app, std::move(name))
                         : "Usage: " + usage + "\n";
  }
};

}  // namespace

struct CommandLine::State {
  std::string command{};
  std::shared_ptr<UsageFormatter> formatter = std::make_shared<UsageFormatter>();
  CLI::App app{};
};

CommandLine::CommandLine(const std::string& command, const std::string& about)
    : state_(std::make_unique<State>()) {
  state_->command = command;
  state_->app.description(about);
  state_->app.name("holdfast " + command);
  state_->app.set_help_flag("-h,--help", "Print this and leave");
  state_->formatter->column_width(34);
  state_->app.formatter(state_->formatter);
}

CommandLine::~CommandLine() = default;

void CommandLine::positional(const std::string& name, std::string& value, const std::string& help,
                             bool required) {
  state_->app.add_option(name, value, help)->type_name("")->required(required);
}

void CommandLine::option(const std::string& name, std::string& value, const std::string& kind,
                         const std::string& help) {
  state_->app.add_option(name, value, help)
      ->type_name(kind)
      ->envname(variable_of(name))
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

void CommandLine::option(const std::string& name, std::optional<std::string>& value,
                         const std::string& kind, const std::string& help) {
  const auto keep = [&value](const std::string& given) { value = given; };
  state_->app.add_option_function<std::string>(name, keep, help)
      ->type_name(kind)
      ->envname(variable_of(name))
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

void CommandLine::flag(const std::string& name, bool& value, const std::string& help) {
  state_->app.add_flag(name, value, help)
      ->envname(variable_of(name))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void CommandLine::usage(const std::string& line) { state_->formatter->usage = line; }

void CommandLine::footer(const std::string& text) { state_->app.footer(text); }

std::optional<int> CommandLine::parse(std::span<const std::string> arguments) {
  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};  // as CLI11 wants them
  try {
    state_->app.parse(std::move(reversed));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::cout << state_->app.help() << std::flush;
    return 0;
  } catch (const CLI::ParseError& error) {
    throw UsageError{one_line(error.what()) + "; see holdfast " + state_->command + " --help"};
  }
}

}  // namespace holdfast::cli

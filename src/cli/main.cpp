#include <holdfast/error.hpp>
#include <holdfast/version.hpp>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/messages.hpp"
#include "cli/overview.hpp"
#include "cli/secrets.hpp"
#include "cli/start_state.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace holdfast::cli {

namespace {

int dispatch(Arguments arguments) {
  if (arguments.empty()) {
    std::cerr << overview();
    return exit_usage;
  }
  const std::string& name = arguments.front();
  if (name == "--version" || name == "version") {
    std::cout << "holdfast " << version << '\n';
    return exit_ok;
  }
  if (name == "--help" || name == "-h" || name == "help") {
    std::cout << overview();
    return exit_ok;
  }
  const auto found = std::find_if(commands().begin(), commands().end(),
                                  [&](const Command& command) { return command.name == name; });
  if (found == commands().end()) {
    throw UsageError{"there is no command '" + name + "'; see holdfast --help"};
  }
  return found->run(arguments.subspan(1));
}

// Before options are parsed, because a password has to go from sight before that.
bool asked_for_silence(Arguments arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::any_of(arguments.begin(), end, [](const std::string& argument) {
    return argument == "-q" || argument == "--quiet";
  });
}

int run_main(std::span<char*> raw) {
  fill_standard_descriptors();
  const std::vector<std::string> arguments{raw.begin(), raw.end()};
  if (blank_passwords(raw) && !asked_for_silence(arguments)) {
    print_error_line(
        "the process list showed a password for a moment: keep it in a file that "
        "HOLDFAST_PASSWORD_FILE names");
  }
  try {
    return dispatch(arguments);
  } catch (const UsageError& error) {
    print_error_line(error.what());
    return exit_usage;
  } catch (const Error& error) {
    print_error_line(error.what());
    return exit_code_for(error.code());
  } catch (const std::exception& error) {
    print_error_line(error.what());
    return exit_unavailable;
  }
}

}  // namespace

}  // namespace holdfast::cli

int main(int argc, char** argv) {
  const auto count = static_cast<std::size_t>(std::max(argc, 1));
  return holdfast::cli::run_main({argv + (argc > 0 ? 1 : 0), count - 1});
}

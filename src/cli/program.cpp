#include "cli/program.hpp"

#include <holdfast/error.hpp>

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/messages.hpp"
#include "cli/secrets.hpp"
#include "cli/start_state.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

namespace holdfast::cli {

namespace {

// Before options are parsed, because a password has to go from sight before that.
bool asked_for_silence(Arguments arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::any_of(arguments.begin(), end, [](const std::string& argument) {
    return argument == "-q" || argument == "--quiet";
  });
}

}  // namespace

int run_program(std::span<char*> raw, int (*main)(Arguments arguments)) {
  fill_standard_descriptors();
  const std::vector<std::string> arguments{raw.begin(), raw.end()};
  if (blank_passwords(raw) && !asked_for_silence(arguments)) {
    print_error_line(
        "the process list showed a password for a moment: keep it in a file that "
        "HOLDFAST_PASSWORD_FILE names");
  }
  try {
    return main(arguments);
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

}  // namespace holdfast::cli

#include <holdfast/version.hpp>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/overview.hpp"
#include "cli/program.hpp"

#include <algorithm>
#include <iostream>
#include <span>
#include <string>

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

}  // namespace

}  // namespace holdfast::cli

int main(int argc, char** argv) {
  const auto count = static_cast<std::size_t>(std::max(argc, 1));
  return holdfast::cli::run_program({argv + (argc > 0 ? 1 : 0), count - 1},
                                    holdfast::cli::dispatch);
}

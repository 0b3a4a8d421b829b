// The commands of `holdfast`, one file each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

// What follows the command's name. A command returns its exit code, prints results on standard
// output, and throws UsageError or holdfast::Error.
using Arguments = std::span<const std::string>;

struct Command {
  std::string_view name{};
  std::string_view summary{};  // one line of `holdfast --help`
  int (*run)(Arguments arguments) = nullptr;
};

// In the order of `holdfast --help`.
const std::vector<Command>& commands();

int run_command(Arguments arguments);
int elect_command(Arguments arguments);
int list_command(Arguments arguments);
int show_command(Arguments arguments);
int watch_command(Arguments arguments);
int break_command(Arguments arguments);
int doctor_command(Arguments arguments);
int stores_command(Arguments arguments);
int guard_command(Arguments arguments);
int demo_command(Arguments arguments);
int sim_command(Arguments arguments);
int lab_command(Arguments arguments);
int completion_command(Arguments arguments);

}  // namespace holdfast::cli

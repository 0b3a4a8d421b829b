// What the commands that look at a store have in common: --store and --json.
#pragma once

#include "cli/command_line.hpp"

#include <string>

namespace holdfast::cli {

struct LookOptions {
  std::string store{};
  bool json = false;

  void add_to(CommandLine& line) {
    line.option("--store", store, "URL", "Where the locks are kept");
    line.flag("--json", json, "One JSON object a line");
  }
};

}  // namespace holdfast::cli

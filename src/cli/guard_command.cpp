#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"

#ifdef HOLDFAST_WITH_SQLITE
#include <holdfast/guard/sqlite.hpp>
#endif

#include <iostream>

namespace holdfast::cli {

int guard_command(Arguments arguments) {
  std::string verb;
  std::string storage;
  CommandLine line{"guard", "Prints the statements that make a storage refuse stale fences."};
  line.usage("holdfast guard sql sqlite");
  line.positional("VERB", verb, "sql");
  line.positional("STORAGE", storage, "sqlite");
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  if (verb != "sql") {
    throw UsageError{"guard " + verb + ": write guard sql"};
  }
#ifdef HOLDFAST_WITH_SQLITE
  if (storage == "sqlite") {
    std::cout << guard_sql_sqlite();
    return exit_ok;
  }
#endif
  throw UsageError{"this build has no guard for '" + storage + "'"};
}

}  // namespace holdfast::cli

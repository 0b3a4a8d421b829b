#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"

#ifdef HOLDFAST_WITH_SQLITE
#include <holdfast/guard/sqlite.hpp>
#endif
#ifdef HOLDFAST_WITH_REDIS
#include <holdfast/guard/redis.hpp>
#endif

#include <iostream>
#include <map>

namespace holdfast::cli {

namespace {

// What this build can print, by the storage's name.
std::map<std::string, std::string> guards() {
  std::map<std::string, std::string> texts;
#ifdef HOLDFAST_WITH_SQLITE
  texts["sqlite"] = guard_sql_sqlite();
#endif
#ifdef HOLDFAST_WITH_REDIS
  texts["redis"] = guard_lua_redis();
  texts["redis-owner"] = guard_lua_redis_owner();
  texts["redis-once"] = guard_lua_redis_once();
#endif
  return texts;
}

}  // namespace

int guard_command(Arguments arguments) {
  std::string verb;
  std::string storage;
  CommandLine line{"guard", "Prints the statements that make a storage refuse stale fences."};
  line.usage("holdfast guard sql STORAGE");
  line.positional("VERB", verb, "sql");
  line.positional("STORAGE", storage, "sqlite, or one of redis, redis-owner, redis-once");
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  if (verb != "sql") {
    throw UsageError{"guard " + verb + ": write guard sql"};
  }
  const auto texts = guards();
  const auto found = texts.find(storage);
  if (found == texts.end()) {
    throw UsageError{"this build has no guard for '" + storage + "'"};
  }
  std::cout << found->second;
  return exit_ok;
}

}  // namespace holdfast::cli

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/guard_install.hpp"

#ifdef HOLDFAST_WITH_POSTGRES
#include <holdfast/guard/postgres.hpp>
#endif
#ifdef HOLDFAST_WITH_SQLITE
#include <holdfast/guard/sqlite.hpp>
#endif
#ifdef HOLDFAST_WITH_REDIS
#include <holdfast/guard/redis.hpp>
#endif

#include <nlohmann/json.hpp>

#include <iostream>
#include <map>

namespace holdfast::cli {

namespace {

// What this build can print, by the storage's name.
std::map<std::string, std::string> guards() {
  std::map<std::string, std::string> texts;
#ifdef HOLDFAST_WITH_POSTGRES
  texts["postgres"] = guard_sql_postgres();
#endif
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

int print_statements(const std::string& storage) {
  const auto texts = guards();
  const auto found = texts.find(storage);
  if (found == texts.end()) {
    throw UsageError{"this build has no guard for '" + storage + "'"};
  }
  std::cout << found->second;
  return exit_ok;
}

nlohmann::ordered_json to_json(const GuardInstalled& done) {
  nlohmann::ordered_json object{
      {"storage", done.storage}, {"place", done.place}, {"changed", done.changed}};
  if (done.version) {
    object["version"] = *done.version;
    object["before"] = done.before ? nlohmann::ordered_json(*done.before) : nullptr;
  }
  return object;
}

std::string text_of(const GuardInstalled& done) {
  const std::string version = done.version ? " version " + std::to_string(*done.version) : "";
  if (!done.changed) {
    return "the guards" + version + " were in " + done.place + " already";
  }
  if (done.before) {
    return "the guards in " + done.place + " are" + version + " now, before " +
           std::to_string(*done.before);
  }
  const bool grant = done.storage == "postgres";
  return "the guards" + version + " are in " + done.place +
         (grant ? "; for each role that writes: GRANT USAGE ON SCHEMA holdfast TO role" : "");
}

}  // namespace

int guard_command(Arguments arguments) {
  std::string verb;
  std::string what;
  bool json = false;
  CommandLine line{"guard", "Makes a storage refuse stale fences."};
  line.usage("holdfast guard sql STORAGE, or holdfast guard install URL");
  line.positional("VERB", verb, "sql: print the statements; install: run them");
  line.positional(
      "STORAGE", what,
      "postgres, sqlite, redis, redis-owner or redis-once; a database's URL to install");
  line.flag("--json", json, "One JSON object that says what install did");
  line.footer(
      "install may run again, to upgrade, and on several hosts at once. In PostgreSQL it needs\n"
      "CREATE on the schema holdfast, or on the database if that schema is not there.\n"
      "Example: holdfast guard install postgres://admin@db/shop");
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  if (verb == "sql") {
    return print_statements(what);
  }
  if (verb != "install") {
    throw UsageError{"guard " + verb + ": write guard sql or guard install"};
  }
  const GuardInstalled done = install_guards(what);
  std::cout << (json ? to_json(done).dump() : text_of(done)) << '\n';
  return exit_ok;
}

}  // namespace holdfast::cli

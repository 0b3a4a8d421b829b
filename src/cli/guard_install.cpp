#include "cli/guard_install.hpp"

#include <holdfast/error.hpp>

#include "base/store_url.hpp"
#include "cli/command_line.hpp"

#ifdef HOLDFAST_WITH_POSTGRES
#include <holdfast/guard/postgres.hpp>

#include "cli/postgres_connection.hpp"
#endif
#ifdef HOLDFAST_WITH_SQLITE
#include <holdfast/guard/sqlite.hpp>

#include <sqlite3.h>
#endif

#include <memory>

namespace holdfast::cli {

namespace {

#ifdef HOLDFAST_WITH_POSTGRES
std::optional<int> guard_version(PostgresSession& session) {
  const PostgresAnswer answer = session.run("SELECT holdfast.guard_version()", {});
  if (answer.failed) {
    return std::nullopt;  // none is there, or we may not look: install() tells
  }
  return std::stoi(answer.rows.at(0).at(0).value_or("0"));
}

GuardInstalled install_postgres(const std::string& url) {
  const std::unique_ptr<PostgresSession> session = connect_postgres(url);
  GuardInstalled done{.storage = "postgres"};
  const PostgresAnswer database = session->run("SELECT current_database()", {});
  if (!database.failed) {
    done.place = "database " + database.rows.at(0).at(0).value_or("");
  }
  done.before = guard_version(*session);
  PostgresGuard{*session}.install();
  done.version = guard_version(*session);
  done.changed = done.before != done.version;
  return done;
}
#endif

#ifdef HOLDFAST_WITH_SQLITE
struct CloseDatabase {
  void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
};

int objects_of_ours(sqlite3* database) {
  int count = 0;
  sqlite3_exec(
      database, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'holdfast\\_%' ESCAPE '\\'",
      [](void* out, int, char** columns, char**) {
        *static_cast<int*>(out) = std::stoi(columns[0]);
        return 0;
      },
      &count, nullptr);
  return count;
}

GuardInstalled install_sqlite(const std::string& path) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE, nullptr);
  const std::unique_ptr<sqlite3, CloseDatabase> database(raw);
  // A guard stands beside data: a new file would be a mistyped path.
  if (opened != SQLITE_OK) {
    throw Error{errc::store_unavailable,
                path + ": " + sqlite3_errmsg(raw) + " (the database must be there already)"};
  }
  sqlite3_busy_timeout(raw, 10'000);
  const auto run = [raw, &path](const char* sql) {
    if (sqlite3_exec(raw, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      const bool denied = (sqlite3_errcode(raw) & 0xff) == SQLITE_READONLY;
      throw Error{denied ? errc::access_denied : errc::store_unavailable,
                  path + ": " + sqlite3_errmsg(raw)};
    }
  };
  run("BEGIN IMMEDIATE");
  const int before = objects_of_ours(raw);
  SqliteGuard{raw}.install();
  const bool changed = objects_of_ours(raw) != before;
  run("COMMIT");
  return {.storage = "sqlite", .place = path, .changed = changed};
}
#endif

}  // namespace

GuardInstalled install_guards(const std::string& url) {
  const StoreUrl parsed = StoreUrl::parse(url);
#ifdef HOLDFAST_WITH_POSTGRES
  if (parsed.scheme == "postgres" || parsed.scheme == "postgresql") {
    return install_postgres(url);
  }
#endif
#ifdef HOLDFAST_WITH_SQLITE
  if (parsed.scheme == "sqlite") {
    return install_sqlite(parsed.path);
  }
#endif
  throw UsageError{"there are no guards to install in " + parsed.scheme + ": in this build"};
}

}  // namespace holdfast::cli

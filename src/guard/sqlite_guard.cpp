#include <holdfast/guard/sqlite.hpp>

#include "guard/sqlite_statement.hpp"

#include <sqlite3.h>

namespace holdfast {

namespace {

using guard::Outcome;
using guard::SqliteStatement;

// The check is in the UPDATE, so that it reads under the write lock: a separate SELECT could read
// an older snapshot of a transaction that was begun without IMMEDIATE.
constexpr const char* raise_mark =
    "INSERT INTO holdfast_guard(resource, name, mark) VALUES(?1, ?2, ?4) "
    "ON CONFLICT(resource) DO UPDATE SET mark = max(mark, excluded.mark) "
    "WHERE name = ?2 AND mark <= ?3";

Outcome refused(errc code, std::string detail) {
  return {make_error_code(code), std::move(detail)};
}

// Precondition: raise_mark changed nothing, in a transaction that is still open.
Outcome why_refused(sqlite3* database, std::string_view resource, std::string_view name,
                    Fence fence) {
  SqliteStatement look(database, "SELECT name, mark FROM holdfast_guard WHERE resource = ?1");
  look.bind(1, resource);
  if (look.step() != SQLITE_ROW) {
    return look.failure();
  }
  const std::string owner = look.text(0);
  if (owner != name) {
    return refused(errc::invalid_options, "resource \"" + std::string(resource) +
                                              "\" is guarded by the lock \"" + owner + "\"");
  }
  return refused(errc::stale_fence, "resource \"" + std::string(resource) + "\" has seen fence " +
                                        std::to_string(look.integer(1)) + ", this one is " +
                                        std::to_string(to_int(fence)));
}

Outcome try_admit(sqlite3* database, std::string_view resource, std::string_view name, Fence fence,
                  Fence floor) {
  const Fence raise_to = floor == Fence::none ? fence : floor;
  if (to_int(fence) <= 0) {
    return refused(errc::invalid_options, "a fence is positive: this is not the fence of a lease");
  }
  if (to_int(raise_to) <= 0 || raise_to > fence) {
    return refused(errc::invalid_options, "a floor is positive and not above the fence");
  }
  if (name.empty()) {
    return refused(errc::invalid_options, "the lock's name is missing");
  }
  if (sqlite3_get_autocommit(database) != 0) {
    return refused(errc::invalid_options,
                   "no transaction is open: BEGIN IMMEDIATE, admit, write, COMMIT");
  }
  SqliteStatement raise(database, raise_mark);
  raise.bind(1, resource);
  raise.bind(2, name);
  raise.bind(3, to_int(fence));
  raise.bind(4, to_int(raise_to));
  if (raise.step() != SQLITE_DONE) {
    return raise.failure();
  }
  return sqlite3_changes(database) != 0 ? Outcome{} : why_refused(database, resource, name, fence);
}

Outcome try_install(sqlite3* database) {
  return sqlite3_exec(database, guard_sql_sqlite(), nullptr, nullptr, nullptr) == SQLITE_OK
             ? Outcome{}
             : guard::failure_of(database);
}

}  // namespace

void SqliteGuard::install() { try_install(database_).raise(); }

void SqliteGuard::install(std::error_code& ec) { ec = try_install(database_).code; }

void SqliteGuard::admit(std::string_view resource, std::string_view name, Fence fence,
                        Fence floor) {
  try_admit(database_, resource, name, fence, floor).raise();
}

void SqliteGuard::admit(std::string_view resource, std::string_view name, Fence fence, Fence floor,
                        std::error_code& ec) {
  ec = try_admit(database_, resource, name, fence, floor).code;
}

}  // namespace holdfast

#include <holdfast/guard/sqlite_once.hpp>

#include "guard/sqlite_statement.hpp"

#include <sqlite3.h>

namespace holdfast {

namespace {

using guard::Outcome;
using guard::SqliteStatement;

Outcome refused(errc code, std::string detail) {
  return {make_error_code(code), std::move(detail)};
}

Outcome check_call(sqlite3* database, std::string_view key) {
  if (key.empty()) {
    return refused(errc::invalid_options, "the key is missing");
  }
  if (sqlite3_get_autocommit(database) != 0) {
    return refused(errc::invalid_options,
                   "no transaction is open: BEGIN IMMEDIATE, take the key, write, COMMIT");
  }
  return {};
}

Outcome try_take(sqlite3* database, std::string_view key, Fence fence, OnceAnswer& answer) {
  if (Outcome bad = check_call(database, key); bad.code) {
    return bad;
  }
  if (to_int(fence) < 0) {
    return refused(errc::invalid_options, "a fence is positive: this is not the fence of a lease");
  }
  // The write comes first: it takes the write lock, so what is read after it cannot be outdated.
  SqliteStatement insert(database,
                         "INSERT INTO holdfast_once(key, fence) VALUES(?1, nullif(?2, 0)) "
                         "ON CONFLICT(key) DO NOTHING");
  insert.bind(1, key);
  insert.bind(2, to_int(fence));
  if (insert.step() != SQLITE_DONE) {
    return insert.failure();
  }
  answer.first = sqlite3_changes(database) != 0;
  if (answer.first) {
    return {};
  }
  SqliteStatement look(database,
                       "SELECT result, coalesce(fence, 0) FROM holdfast_once "
                       "WHERE key = ?1");
  look.bind(1, key);
  if (look.step() != SQLITE_ROW) {
    return look.failure();
  }
  if (!look.is_null(0)) {
    answer.result = look.text(0);
  }
  answer.fence = Fence{look.integer(1)};
  return {};
}

Outcome try_keep(sqlite3* database, std::string_view key, std::string_view result) {
  if (Outcome bad = check_call(database, key); bad.code) {
    return bad;
  }
  SqliteStatement update(database,
                         "UPDATE holdfast_once SET result = ?2 WHERE key = ?1 AND result IS NULL");
  update.bind(1, key);
  update.bind(2, result);
  if (update.step() != SQLITE_DONE) {
    return update.failure();
  }
  if (sqlite3_changes(database) != 0) {
    return {};
  }
  SqliteStatement look(database, "SELECT 1 FROM holdfast_once WHERE key = ?1");
  look.bind(1, key);
  switch (look.step()) {
    case SQLITE_ROW:
      return refused(errc::already_written, "key \"" + std::string(key) + "\" has a result");
    case SQLITE_DONE:
      return refused(errc::not_found, "key \"" + std::string(key) + "\" was not taken");
    default:
      return look.failure();
  }
}

Outcome try_forget(sqlite3* database, std::chrono::seconds age, std::int64_t& count) {
  if (age < std::chrono::seconds::zero()) {
    return refused(errc::invalid_options, "the age is negative");
  }
  SqliteStatement remove(database,
                         "DELETE FROM holdfast_once "
                         "WHERE taken_at < CAST(strftime('%s', 'now') AS INTEGER) - ?1");
  remove.bind(1, std::int64_t{age.count()});
  if (remove.step() != SQLITE_DONE) {
    return remove.failure();
  }
  count = sqlite3_changes(database);
  return {};
}

}  // namespace

OnceAnswer SqliteOnce::take(std::string_view key, Fence fence) {
  OnceAnswer answer;
  try_take(database_, key, fence, answer).raise();
  return answer;
}

OnceAnswer SqliteOnce::take(std::string_view key, Fence fence, std::error_code& ec) {
  OnceAnswer answer;
  ec = try_take(database_, key, fence, answer).code;
  return answer;
}

void SqliteOnce::keep(std::string_view key, std::string_view result) {
  try_keep(database_, key, result).raise();
}

void SqliteOnce::keep(std::string_view key, std::string_view result, std::error_code& ec) {
  ec = try_keep(database_, key, result).code;
}

std::int64_t SqliteOnce::forget(std::chrono::seconds age) {
  std::int64_t count = 0;
  try_forget(database_, age, count).raise();
  return count;
}

std::int64_t SqliteOnce::forget(std::chrono::seconds age, std::error_code& ec) {
  std::int64_t count = 0;
  ec = try_forget(database_, age, count).code;
  return count;
}

}  // namespace holdfast

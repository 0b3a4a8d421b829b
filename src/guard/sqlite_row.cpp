#include <holdfast/guard/sqlite.hpp>

#include "guard/sqlite_statement.hpp"

#include <sqlite3.h>

#include <type_traits>

namespace holdfast {

namespace {

using guard::Outcome;
using guard::SqliteStatement;

// A name as SQL takes it, whatever is in it.
std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    text += c;
    if (c == '"') {
      text += c;
    }
  }
  return text + "\"";
}

std::string key_text(const SqliteRow& row) {
  return std::visit(
      [](const auto& key) {
        if constexpr (std::is_same_v<std::decay_t<decltype(key)>, std::int64_t>) {
          return std::to_string(key);
        } else {
          return std::string(key);
        }
      },
      row.key);
}

Outcome told(errc code, const SqliteRow& row, const std::string& what) {
  return {make_error_code(code), "row " + key_text(row) + " of " + std::string(row.table) + what};
}

Outcome look_at(sqlite3* database, const SqliteRow& row, Fence fence) {
  // Qualified by the table: SQLite takes a quoted name that is no column for a text otherwise.
  const std::string table = quoted(row.table);
  SqliteStatement look(database, "SELECT " + table + "." + quoted(row.fence_column) + " FROM " +
                                     table + " WHERE " + table + "." + quoted(row.key_column) +
                                     " = ?1");
  std::visit([&](const auto& key) { look.bind(1, key); }, row.key);
  const int step = look.step();
  if (step == SQLITE_DONE) {
    return told(errc::not_found, row, " does not exist");
  }
  if (step != SQLITE_ROW) {
    return look.failure();
  }
  if (look.is_null(0)) {
    return told(errc::invalid_options, row, " has no fence: make the column NOT NULL DEFAULT 0");
  }
  const std::int64_t seen = look.integer(0);
  const std::string number = std::to_string(seen);
  if (seen > to_int(fence)) {
    return told(
        errc::stale_fence, row,
        " was written under fence " + number + ", this one is " + std::to_string(to_int(fence)));
  }
  if (seen == to_int(fence)) {
    return told(errc::already_written, row, " was written under this fence already");
  }
  return told(errc::invalid_options, row,
              " has the lower fence " + number + ": another condition of the UPDATE did not hold");
}

Outcome check(sqlite3* database, int changed, const SqliteRow& row, Fence fence) {
  if (to_int(fence) <= 0) {
    return {make_error_code(errc::invalid_options),
            "a fence is positive: this is not the fence of a lease"};
  }
  return changed != 0 ? Outcome{} : look_at(database, row, fence);
}

}  // namespace

void check_row_write(sqlite3* database, int changed, const SqliteRow& row, Fence fence) {
  check(database, changed, row, fence).raise();
}

void check_row_write(sqlite3* database, int changed, const SqliteRow& row, Fence fence,
                     std::error_code& ec) {
  ec = check(database, changed, row, fence).code;
}

}  // namespace holdfast

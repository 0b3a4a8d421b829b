#include "guard/sqlite_counted_row.hpp"

#include <sqlite3.h>

#include <type_traits>

namespace holdfast::guard {

namespace {

std::string key_text(const CountedRow& row) {
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

}  // namespace

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

Outcome told(errc code, const CountedRow& row, const std::string& what) {
  return {make_error_code(code), "row " + key_text(row) + " of " + std::string(row.table) + what};
}

Outcome look_up(sqlite3* database, const CountedRow& row, std::int64_t& number) {
  // Qualified by the table: SQLite takes a quoted name that is no column for a text otherwise.
  const std::string table = quoted(row.table);
  SqliteStatement look(database, "SELECT " + table + "." + quoted(row.number_column) + " FROM " +
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
    return told(
        errc::invalid_options, row,
        " has no " + std::string(row.number_column) + ": make the column NOT NULL DEFAULT 0");
  }
  number = look.integer(0);
  return {};
}

}  // namespace holdfast::guard

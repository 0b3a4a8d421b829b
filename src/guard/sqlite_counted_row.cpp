#include "guard/sqlite_counted_row.hpp"

#include <sqlite3.h>

namespace holdfast::guard {

Outcome look_up(sqlite3* database, const CountedRow& row, std::int64_t& number) {
  // Qualified by the table: SQLite takes a quoted name that is no column for a text otherwise.
  const std::string table = quoted(row.table);
  SqliteStatement look(database, "SELECT " + table + "." + quoted(row.number_column) + " FROM " +
                                     table + " WHERE " + table + "." + quoted(row.key_column) +
                                     " = ?1");
  std::visit([&](const auto& key) { look.bind(1, key); }, row.key);
  const int step = look.step();
  if (step == SQLITE_DONE) {
    return told_missing(row);
  }
  if (step != SQLITE_ROW) {
    return look.failure();
  }
  if (look.is_null(0)) {
    return told_null(row);
  }
  number = look.integer(0);
  return {};
}

}  // namespace holdfast::guard

#include <holdfast/guard/sqlite_version.hpp>

#include "guard/sqlite_counted_row.hpp"

namespace holdfast {

namespace {

using guard::CountedRow;
using guard::Outcome;

Outcome check(sqlite3* database, int changed, const SqliteVersionedRow& row, std::int64_t read) {
  const CountedRow counted{{}, row.table, row.key_column, row.key, row.version_column};
  return check_version(changed, counted, read, [&](const CountedRow& at, std::int64_t& number) {
    return look_up(database, at, number);
  });
}

}  // namespace

void check_version_write(sqlite3* database, int changed, const SqliteVersionedRow& row,
                         std::int64_t read) {
  check(database, changed, row, read).raise();
}

void check_version_write(sqlite3* database, int changed, const SqliteVersionedRow& row,
                         std::int64_t read, std::error_code& ec) {
  ec = check(database, changed, row, read).code;
}

}  // namespace holdfast

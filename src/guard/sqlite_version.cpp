#include <holdfast/guard/sqlite_version.hpp>

#include "guard/sqlite_counted_row.hpp"

namespace holdfast {

namespace {

using guard::CountedRow;
using guard::Outcome;
using guard::told;

Outcome check(sqlite3* database, int changed, const SqliteVersionedRow& row, std::int64_t read) {
  if (changed != 0) {
    return {};
  }
  const CountedRow counted{row.table, row.key_column, row.key, row.version_column};
  std::int64_t version = 0;
  if (Outcome looked = look_up(database, counted, version); looked.code) {
    return looked;
  }
  if (version != read) {
    return told(
        errc::version_conflict, counted,
        " has version " + std::to_string(version) + ", it was read as " + std::to_string(read));
  }
  return told(errc::invalid_options, counted,
              " still has this version: another condition of the UPDATE did not hold");
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

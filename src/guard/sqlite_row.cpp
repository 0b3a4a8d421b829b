#include <holdfast/guard/sqlite_row.hpp>

#include "guard/sqlite_counted_row.hpp"

namespace holdfast {

namespace {

using guard::CountedRow;
using guard::Outcome;

Outcome check(sqlite3* database, int changed, const SqliteRow& row, Fence fence) {
  const CountedRow counted{{}, row.table, row.key_column, row.key, row.fence_column};
  return check_fence(changed, counted, fence, [&](const CountedRow& at, std::int64_t& number) {
    return look_up(database, at, number);
  });
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

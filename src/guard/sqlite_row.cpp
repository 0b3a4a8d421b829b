#include <holdfast/guard/sqlite_row.hpp>

#include "guard/sqlite_counted_row.hpp"

namespace holdfast {

namespace {

using guard::CountedRow;
using guard::Outcome;
using guard::told;

Outcome check(sqlite3* database, int changed, const SqliteRow& row, Fence fence) {
  if (to_int(fence) <= 0) {
    return {make_error_code(errc::invalid_options),
            "a fence is positive: this is not the fence of a lease"};
  }
  if (changed != 0) {
    return {};
  }
  const CountedRow counted{row.table, row.key_column, row.key, row.fence_column};
  std::int64_t seen = 0;
  if (Outcome looked = look_up(database, counted, seen); looked.code) {
    return looked;
  }
  const std::string number = std::to_string(seen);
  if (seen > to_int(fence)) {
    return told(
        errc::stale_fence, counted,
        " was written under fence " + number + ", this one is " + std::to_string(to_int(fence)));
  }
  if (seen == to_int(fence)) {
    return told(errc::already_written, counted, " was written under this fence already");
  }
  return told(errc::invalid_options, counted,
              " has the lower fence " + number + ": another condition of the UPDATE did not hold");
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

// holdfast/guard/sqlite_row.hpp: the row guard. Each row carries the fence of its last writer, and
// a writer with a lower or the same fence changes nothing.
//
//   UPDATE job SET state = 'done', fence = :fence WHERE id = :id AND fence < :fence
//   check_row_write(db, sqlite3_changes(db), {.table = "job", .key_column = "id", .key = 7},
//                   lease.fence());
//
// Not for inserts and deletes, and not for several rows that belong together: a row that is not
// there has no fence. They need the resource guard.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/types.hpp>

#include <cstdint>
#include <string_view>
#include <variant>

struct sqlite3;

namespace holdfast {

// A row that carries the fence of its last writer in a column of its own, NOT NULL.
struct SqliteRow {
  std::string_view table{};  // names may be anything: they are quoted
  std::string_view key_column{};
  std::variant<std::int64_t, std::string_view> key{};
  std::string_view fence_column = "fence";
};

// Says what a guarded update did. No error if `changed` is not zero. Otherwise looks at the row:
// stale_fence (a greater fence has written it), already_written (this very fence has), not_found
// (no such row), invalid_options (the fence column is NULL or lower: another condition of the
// UPDATE did not hold, or there is no such table or column). Nothing was written in any of these
// cases.
void check_row_write(sqlite3* database, int changed, const SqliteRow& row, Fence fence);
void check_row_write(sqlite3* database, int changed, const SqliteRow& row, Fence fence,
                     std::error_code& ec);

}  // namespace holdfast

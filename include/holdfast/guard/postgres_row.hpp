// holdfast/guard/postgres_row.hpp: the row guard. Each row carries the fence of its last writer in
// a column of its own, bigint NOT NULL DEFAULT 0, and is written once per fence.
//
//   UPDATE job SET state = 'done', fence = $2 WHERE id = $1 AND fence < $2
//   check_row_write(session, rows_changed, {.table = "job", .key_column = "id", .key = 7}, fence);
//
// Not for inserts and deletes: they need the resource guard, PostgresGuard.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/guard/postgres_session.hpp>
#include <holdfast/types.hpp>

#include <cstdint>
#include <string_view>
#include <variant>

namespace holdfast {

struct PostgresRow {
  std::string_view schema{};  // empty: the search_path decides
  std::string_view table{};   // names may be anything: they are quoted
  std::string_view key_column{};
  std::variant<std::int64_t, std::string_view> key{};  // a text is read as the column's type
  std::string_view fence_column = "fence";
};

// Says what a guarded update did. No error if `changed` is not zero. Otherwise looks at the row:
// stale_fence (a greater fence has written it), already_written (this very fence has), not_found
// (no such row), invalid_options (the fence column is NULL or lower: another condition of the
// UPDATE did not hold, or there is no such table or column). Nothing was written in any of these
// cases.
void check_row_write(PostgresSession& session, std::int64_t changed, const PostgresRow& row,
                     Fence fence);
void check_row_write(PostgresSession& session, std::int64_t changed, const PostgresRow& row,
                     Fence fence, std::error_code& ec);

}  // namespace holdfast

// holdfast/guard/sqlite_version.hpp: the version guard (optimistic lock). Read a row and its
// version, decide without holding anything, write only if the row is still as it was read.
//
//   UPDATE article SET body = :body, version = version + 1 WHERE id = :id AND version = :read
//   check_version_write(db, sqlite3_changes(db),
//                       {.table = "article", .key_column = "id", .key = 7}, read);
//
// Needs no lock at all. Not for work that is dear or has effects outside the database: it is done
// before anybody knows that it was in vain.
#pragma once

#include <holdfast/error.hpp>

#include <cstdint>
#include <string_view>
#include <variant>

struct sqlite3;

namespace holdfast {

// A row that counts its writes in a column of its own, NOT NULL.
struct SqliteVersionedRow {
  std::string_view table{};  // names may be anything: they are quoted
  std::string_view key_column{};
  std::variant<std::int64_t, std::string_view> key{};
  std::string_view version_column = "version";
};

// Says what an update under a version did. No error if `changed` is not zero. Otherwise looks at
// the row: version_conflict (it was written since: read it again and decide again), not_found (no
// such row), invalid_options (its version is NULL, or still `read`: another condition of the UPDATE
// did not hold, or there is no such table or column). Nothing was written in any of these cases.
void check_version_write(sqlite3* database, int changed, const SqliteVersionedRow& row,
                         std::int64_t read);
void check_version_write(sqlite3* database, int changed, const SqliteVersionedRow& row,
                         std::int64_t read, std::error_code& ec);

}  // namespace holdfast

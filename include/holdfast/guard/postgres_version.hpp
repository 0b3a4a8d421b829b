// holdfast/guard/postgres_version.hpp: the version guard (optimistic lock). Read a row and its
// version, decide without holding anything, write only if the row is still as it was read.
//
//   UPDATE article SET body = $1, version = version + 1 WHERE id = $2 AND version = $3
//   check_version_write(session, rows_changed,
//                       {.table = "article", .key_column = "id", .key = 7}, read);
//
// Needs no lock at all. Not for work that is dear or has effects outside the database: it is done
// before anybody knows that it was in vain.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/guard/postgres_session.hpp>

#include <cstdint>
#include <string_view>
#include <variant>

namespace holdfast {

// A row that counts its writes in a column of its own, bigint NOT NULL DEFAULT 0.
struct PostgresVersionedRow {
  std::string_view schema{};  // empty: the search_path decides
  std::string_view table{};   // names may be anything: they are quoted
  std::string_view key_column{};
  std::variant<std::int64_t, std::string_view> key{};  // a text is read as the column's type
  std::string_view version_column = "version";
};

// Says what an update under a version did. No error if `changed` is not zero. Otherwise looks at
// the row: version_conflict (it was written since: read it again and decide again), not_found (no
// such row), invalid_options (its version is NULL, or still `read`: another condition of the UPDATE
// did not hold, or there is no such table or column). Nothing was written in any of these cases.
void check_version_write(PostgresSession& session, std::int64_t changed,
                         const PostgresVersionedRow& row, std::int64_t read);
void check_version_write(PostgresSession& session, std::int64_t changed,
                         const PostgresVersionedRow& row, std::int64_t read, std::error_code& ec);

}  // namespace holdfast

// holdfast/guard/sqlite_claim.hpp: many workers share a table of work without any lock. Each claims
// rows that nobody else works on; a row whose worker died is claimed again when its time is over.
//
//   CREATE TABLE job(id INTEGER PRIMARY KEY, ...,
//                    claim INTEGER NOT NULL DEFAULT 0, claim_until INTEGER DEFAULT 0)
//
//   for (const ClaimedRow& row : claim_rows(db, {.table = "job"}, 10, 5min)) {
//     ... the work of row.key, outside any transaction ...
//     UPDATE job SET state = 'done', claim_until = NULL WHERE id = :key AND claim = :claim
//     check_claim_write(db, sqlite3_changes(db), {.table = "job"}, row);
//   }
//
// SQLite has one writer and no row locks, so what PostgreSQL does by FOR UPDATE SKIP LOCKED is a
// statement here that marks the rows: `claim` counts how often a row was claimed, and is the fence
// of that row; `claim_until` says until when (milliseconds since 1970 by the database's wall
// clock, NULL: not to be claimed any more). A clock that is set can let a second worker in early;
// the first one's write is refused then, because the row has another claim.
// Work that is nothing but statements of this database needs no claim: do it in one BEGIN
// IMMEDIATE.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;

namespace holdfast {

struct SqliteQueue {
  std::string_view table{};  // names may be anything: they are quoted
  std::string_view key_column = "id";
  std::string_view claim_column = "claim";
  std::string_view until_column = "claim_until";
};

struct ClaimedRow {
  std::variant<std::int64_t, std::string> key{};
  std::int64_t claim = 0;  // greater each time that the row is claimed
};

// Claims up to `most` free rows, the lowest keys first, for `time`: from 1 ms, rounded up to whole
// milliseconds. No rows: nothing is free now. One statement, in your transaction if one is open,
// else by itself. Errors: invalid_options if `most` is not positive, `time` is too short or beyond
// 100 years, a key is neither integer nor text, or there is no such table or column;
// store_unavailable, access_denied.
std::vector<ClaimedRow> claim_rows(sqlite3* database, const SqliteQueue& queue, int most,
                                   Duration time);
std::vector<ClaimedRow> claim_rows(sqlite3* database, const SqliteQueue& queue, int most,
                                   Duration time, std::error_code& ec);

// Lets a claim last for `time` from now. Errors: those of check_claim_write() and claim_rows().
void extend_claim(sqlite3* database, const SqliteQueue& queue, const ClaimedRow& row,
                  Duration time);
void extend_claim(sqlite3* database, const SqliteQueue& queue, const ClaimedRow& row, Duration time,
                  std::error_code& ec);

// Says what an update under a claim did. No error if `changed` is not zero. Otherwise looks at the
// row: not_owner (somebody has claimed it since), not_found (no such row), invalid_options (the
// claim is still ours: another condition of the UPDATE did not hold, or there is no such table or
// column). Nothing was written in any of these cases.
void check_claim_write(sqlite3* database, int changed, const SqliteQueue& queue,
                       const ClaimedRow& row);
void check_claim_write(sqlite3* database, int changed, const SqliteQueue& queue,
                       const ClaimedRow& row, std::error_code& ec);

}  // namespace holdfast

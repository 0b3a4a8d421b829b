#include <holdfast/guard/sqlite_claim.hpp>

#include "guard/sqlite_counted_row.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <type_traits>

namespace holdfast {

namespace {

using guard::CountedRow;
using guard::Outcome;
using guard::quoted;
using guard::SqliteStatement;
using guard::told;

// Milliseconds since 1970; the same instant wherever one statement asks.
constexpr const char* now_ms = "CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER)";

Outcome refused(std::string detail) {
  return {make_error_code(errc::invalid_options), std::move(detail)};
}

Outcome check_time(Duration time) {
  using namespace std::chrono_literals;
  return time >= 1ms && time <= 24h * 36'525
             ? Outcome{}
             : refused("a claim lasts from 1 millisecond to 100 years");
}

std::int64_t whole_ms(Duration time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time).count();
}

CountedRow counted(const SqliteQueue& queue, const ClaimedRow& row) {
  CountedRow counted{{}, queue.table, queue.key_column, {}, queue.claim_column};
  std::visit(
      [&](const auto& key) {
        if constexpr (std::is_same_v<std::decay_t<decltype(key)>, std::int64_t>) {
          counted.key = key;
        } else {
          counted.key = std::string_view(key);
        }
      },
      row.key);
  return counted;
}

// Columns are qualified where SQLite would take a quoted name that is no column for a text.
std::string claim_statement(const SqliteQueue& queue) {
  const std::string table = quoted(queue.table);
  const std::string key = table + "." + quoted(queue.key_column);
  const std::string claim = table + "." + quoted(queue.claim_column);
  const std::string until = table + "." + quoted(queue.until_column);
  return "UPDATE " + table + " SET " + quoted(queue.claim_column) + " = " + claim + " + 1, " +
         quoted(queue.until_column) + " = " + now_ms + " + ?1 WHERE " + key + " IN (SELECT " + key +
         " FROM " + table + " WHERE " + until + " <= " + now_ms + " ORDER BY " + key +
         " LIMIT ?2) RETURNING " + quoted(queue.key_column) + ", " + quoted(queue.claim_column);
}

Outcome try_claim(sqlite3* database, const SqliteQueue& queue, int most, Duration time,
                  std::vector<ClaimedRow>& rows) {
  if (most <= 0) {
    return refused("at least one row is claimed");
  }
  if (Outcome bad = check_time(time); bad.code) {
    return bad;
  }
  SqliteStatement claim(database, claim_statement(queue));
  claim.bind(1, whole_ms(time));
  claim.bind(2, std::int64_t{most});
  int step = claim.step();
  bool odd_key = false;
  for (; step == SQLITE_ROW; step = claim.step()) {
    ClaimedRow row{.claim = claim.integer(1)};
    if (claim.is_integer(0)) {
      row.key = claim.integer(0);
    } else {
      odd_key = odd_key || !claim.is_text(0);
      row.key = claim.text(0);
    }
    rows.push_back(std::move(row));
  }
  if (step != SQLITE_DONE) {
    rows.clear();
    return claim.failure();
  }
  // RETURNING has no order.
  std::sort(rows.begin(), rows.end(),
            [](const ClaimedRow& a, const ClaimedRow& b) { return a.key < b.key; });
  return odd_key ? refused("keys are integers or text; these rows are claimed till their time ends")
                 : Outcome{};
}

Outcome check(sqlite3* database, int changed, const SqliteQueue& queue, const ClaimedRow& row) {
  if (changed != 0) {
    return {};
  }
  const CountedRow place = counted(queue, row);
  std::int64_t claim = 0;
  if (Outcome looked = look_up(database, place, claim); looked.code) {
    return looked;
  }
  if (claim != row.claim) {
    return told(errc::not_owner, place,
                " was claimed " + std::to_string(claim) + " times, this is claim " +
                    std::to_string(row.claim));
  }
  return told(errc::invalid_options, place,
              " is still ours: another condition of the UPDATE did not hold");
}

Outcome try_extend(sqlite3* database, const SqliteQueue& queue, const ClaimedRow& row,
                   Duration time) {
  if (Outcome bad = check_time(time); bad.code) {
    return bad;
  }
  const std::string table = quoted(queue.table);
  SqliteStatement extend(database, "UPDATE " + table + " SET " + quoted(queue.until_column) +
                                       " = " + now_ms + " + ?1 WHERE " + table + "." +
                                       quoted(queue.key_column) + " = ?2 AND " + table + "." +
                                       quoted(queue.claim_column) + " = ?3 AND " + table + "." +
                                       quoted(queue.until_column) + " IS NOT NULL");
  extend.bind(1, whole_ms(time));
  std::visit([&](const auto& key) { extend.bind(2, key); }, row.key);
  extend.bind(3, row.claim);
  return extend.step() == SQLITE_DONE ? check(database, sqlite3_changes(database), queue, row)
                                      : extend.failure();
}

}  // namespace

std::vector<ClaimedRow> claim_rows(sqlite3* database, const SqliteQueue& queue, int most,
                                   Duration time) {
  std::vector<ClaimedRow> rows;
  try_claim(database, queue, most, time, rows).raise();
  return rows;
}

std::vector<ClaimedRow> claim_rows(sqlite3* database, const SqliteQueue& queue, int most,
                                   Duration time, std::error_code& ec) {
  std::vector<ClaimedRow> rows;
  ec = try_claim(database, queue, most, time, rows).code;
  return rows;
}

void extend_claim(sqlite3* database, const SqliteQueue& queue, const ClaimedRow& row,
                  Duration time) {
  try_extend(database, queue, row, time).raise();
}

void extend_claim(sqlite3* database, const SqliteQueue& queue, const ClaimedRow& row, Duration time,
                  std::error_code& ec) {
  ec = try_extend(database, queue, row, time).code;
}

void check_claim_write(sqlite3* database, int changed, const SqliteQueue& queue,
                       const ClaimedRow& row) {
  check(database, changed, queue, row).raise();
}

void check_claim_write(sqlite3* database, int changed, const SqliteQueue& queue,
                       const ClaimedRow& row, std::error_code& ec) {
  ec = check(database, changed, queue, row).code;
}

}  // namespace holdfast

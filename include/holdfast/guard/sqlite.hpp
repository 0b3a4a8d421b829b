// holdfast/guard/sqlite.hpp: the SQLite side of fencing. The check and your write are one
// transaction, so a holder that was paused and came back too late writes nothing.
//
//   holdfast::SqliteGuard guard{db};
//   guard.install();                                  // once: makes its table
//   ...
//   BEGIN IMMEDIATE
//   guard.admit("ledger", "payout", lease.fence());   // throws stale_fence: roll back
//   INSERT INTO ledger ...                            // any number of writes
//   COMMIT
//
// Not for data in another database: the fence and the data must be committed by one transaction.
// Jobs in other languages use the same table by plain SQL: `holdfast guard sql sqlite`.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/types.hpp>

#include <string_view>
#include <variant>

struct sqlite3;

namespace holdfast {

// Resource guard. A resource is any text that stands for what the lock protects: a table, a file,
// an account. As thread-safe as the connection; holds no state of its own.
class SqliteGuard {
 public:
  // `database` must outlive the guard. It is used as it is: busy handling stays yours.
  explicit SqliteGuard(sqlite3* database) noexcept : database_(database) {}

  // Makes table `holdfast_guard` and view `holdfast_admit` unless they are there.
  void install();
  void install(std::error_code& ec);

  // Inside a transaction of yours: refuses a fence below the resource's mark, else raises the mark
  // to `floor` (unset: to `fence`). Until you commit nobody else can write, so the mark cannot
  // move between this check and your writes; roll back and the mark is as it was.
  // After an error roll back: what you would write next is exactly what must not be written.
  // Errors: stale_fence; invalid_options if no transaction is open, `fence` is not positive,
  // `floor` is not from 1 to `fence`, or another lock's name guards this resource; not_found if
  // install() was never called; store_unavailable if the database is busy, full or damaged;
  // access_denied if it is read-only.
  void admit(std::string_view resource, std::string_view name, Fence fence,
             Fence floor = Fence::none);
  void admit(std::string_view resource, std::string_view name, Fence fence, Fence floor,
             std::error_code& ec);

 private:
  sqlite3* database_;
};

// Row guard: a row that carries the fence of its last writer in a column of its own, NOT NULL.
struct SqliteRow {
  std::string_view table{};  // names may be anything: they are quoted
  std::string_view key_column{};
  std::variant<std::int64_t, std::string_view> key{};
  std::string_view fence_column = "fence";
};

// Says what a guarded update did:
//
//   UPDATE job SET state = 'done', fence = :fence WHERE id = :id AND fence < :fence
//   check_row_write(db, sqlite3_changes(db), {.table = "job", .key_column = "id", .key = 7},
//   fence);
//
// No error if `changed` is not zero. Otherwise looks at the row: stale_fence (a greater fence has
// written it), already_written (this very fence has), not_found (no such row), invalid_options
// (the fence column is NULL or lower: another condition of the UPDATE did not hold, or there is no
// such table or column). Nothing was written in any of these cases. Inserts and deletes need the
// resource guard.
void check_row_write(sqlite3* database, int changed, const SqliteRow& row, Fence fence);
void check_row_write(sqlite3* database, int changed, const SqliteRow& row, Fence fence,
                     std::error_code& ec);

// The guard as plain SQL, with how to use it: what `holdfast guard sql sqlite` prints.
const char* guard_sql_sqlite() noexcept;

}  // namespace holdfast

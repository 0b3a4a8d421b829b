// holdfast/guard/sqlite.hpp: the SQLite side of fencing. The check and your write are one
// transaction, so a holder that was paused and came back too late writes nothing.
//
//   holdfast::SqliteGuard guard{db};
//   guard.install();                                  // once: makes its tables
//   ...
//   BEGIN IMMEDIATE
//   guard.admit("ledger", "payout", lease.fence());   // throws stale_fence: roll back
//   INSERT INTO ledger ...                            // any number of writes
//   COMMIT
//
// Not for data in another database: the fence and the data must be committed by one transaction.
// Jobs in other languages use the same tables by plain SQL: `holdfast guard sql sqlite`.
//
// Brings the whole set: the resource guard of this header, and
//   sqlite_row.hpp      a row that carries the fence of its last writer
//   sqlite_once.hpp     an idempotency key: the second time, the first result
//   sqlite_version.hpp  a row that carries a version: optimistic locking
//   sqlite_claim.hpp    many workers share a table of work
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/guard/sqlite_claim.hpp>
#include <holdfast/guard/sqlite_once.hpp>
#include <holdfast/guard/sqlite_row.hpp>
#include <holdfast/guard/sqlite_version.hpp>
#include <holdfast/types.hpp>

#include <string_view>

struct sqlite3;

namespace holdfast {

// Resource guard. A resource is any text that stands for what the lock protects: a table, a file,
// an account. As thread-safe as the connection; holds no state of its own.
class SqliteGuard {
 public:
  // `database` must outlive the guard. It is used as it is: busy handling stays yours.
  explicit SqliteGuard(sqlite3* database) noexcept : database_(database) {}

  // Makes the tables and views `holdfast_…` of all guards unless they are there.
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

// The guards as plain SQL, with how to use them: what `holdfast guard sql sqlite` prints.
const char* guard_sql_sqlite() noexcept;

}  // namespace holdfast

// holdfast/guard/postgres.hpp: the PostgreSQL side of fencing. The check and your write are one
// transaction, so a holder that was paused and came back too late writes nothing.
//
//   holdfast::PqSession session{connection};          // or a PqxxSession
//   holdfast::PostgresGuard guard{session};
//   guard.install();                                  // once: schema holdfast
//   ...
//   BEGIN
//   guard.admit("ledger", "payout", lease.fence());   // throws stale_fence: roll back
//   INSERT INTO ledger ...                            // any number of writes
//   COMMIT
//
// Not for data in another database: the fence and the data must be committed by one transaction.
// Jobs in other languages call the same functions by plain SQL: `holdfast guard sql postgres`.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/guard/postgres_claim.hpp>
#include <holdfast/guard/postgres_once.hpp>
#include <holdfast/guard/postgres_row.hpp>
#include <holdfast/guard/postgres_session.hpp>
#include <holdfast/guard/postgres_version.hpp>
#include <holdfast/types.hpp>

#include <span>
#include <string_view>

namespace holdfast {

// Resource guard. A resource is any text that stands for what the lock protects: a table, a file,
// an account. As thread-safe as the session; holds no state of its own.
class PostgresGuard {
 public:
  // `session` must outlive the guard.
  explicit PostgresGuard(PostgresSession& session) noexcept : session_(session) {}

  // Makes schema `holdfast` with the tables and functions of all guards, or brings an older version
  // of them up to date; two hosts may do so at once. In a transaction of yours, or by itself: then
  // all of it is there afterwards, or nothing. Errors: access_denied names the missing right;
  // format_too_new; store_unavailable.
  void install();
  void install(std::error_code& ec);

  // Inside a transaction of yours: refuses a fence below the resource's mark, else raises the mark
  // to `floor` (unset: to `fence`). The mark's row stays locked until you commit, so it cannot move
  // between this check and your writes; roll back, also to a savepoint before this call, and the
  // mark is as it was. At REPEATABLE READ and above your snapshot is as new as the last write that
  // was admitted, or you get store_unavailable (a serialisation failure) and start again.
  // After an error roll back: what you would write next is exactly what must not be written.
  // Errors: stale_fence; invalid_options if no transaction is open, `fence` is not positive,
  // `floor` is not from 1 to `fence`, or another lock's name guards this resource; not_found if
  // install() was never called; store_unavailable; access_denied if this role may not use schema
  // holdfast, or the transaction is read-only.
  void admit(std::string_view resource, std::string_view name, Fence fence,
             Fence floor = Fence::none);
  void admit(std::string_view resource, std::string_view name, Fence fence, Fence floor,
             std::error_code& ec);

  // The same for several resources, in an order in which no two sessions can wait for each other,
  // however they list them. All are admitted, or an error says why not.
  void admit_all(std::span<const std::string_view> resources, std::string_view name, Fence fence,
                 Fence floor = Fence::none);
  void admit_all(std::span<const std::string_view> resources, std::string_view name, Fence fence,
                 Fence floor, std::error_code& ec);

 private:
  PostgresSession& session_;
};

// The guards as plain SQL, with how to use them: what `holdfast guard sql postgres` prints. One
// statement.
const char* guard_sql_postgres() noexcept;

}  // namespace holdfast

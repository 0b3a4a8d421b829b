// holdfast/guard/postgres_once.hpp: the once guard (idempotency key). The key is taken in the same
// transaction as the work, so either both happened or neither; a repeat gets the first result.
//
//   holdfast::PostgresOnce once{session};               // PostgresGuard::install() made its table
//   BEGIN
//   const auto answer = once.take("payment 4711", lease.fence());
//   if (!answer.first) { ROLLBACK; return answer.result; }
//   INSERT INTO payment ...
//   once.keep("payment 4711", "receipt 17");
//   COMMIT
//
// Not for work outside the database: a mail that was sent before a crash is sent again.
#pragma once

#include <holdfast/guard.hpp>
#include <holdfast/guard/postgres_session.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace holdfast {

// As thread-safe as the session; holds no state of its own.
class PostgresOnce {
 public:
  // `session` must outlive the guard.
  explicit PostgresOnce(PostgresSession& session) noexcept : session_(session) {}

  // Inside a transaction of yours: takes the key, or says what the first one to take it kept; waits
  // while another transaction that took it is open. Roll back and the key is free again. `fence` is
  // kept for people and for the answer to a repeat; it decides nothing. Errors: invalid_options if
  // no transaction is open, `key` is empty or `fence` negative; not_found if
  // PostgresGuard::install() was never called; store_unavailable, access_denied.
  OnceAnswer take(std::string_view key, Fence fence = Fence::none);
  OnceAnswer take(std::string_view key, Fence fence, std::error_code& ec);

  // Keeps the result for repeats; in the transaction that took the key. Errors: not_found if it
  // was not taken, already_written if it has a result; the others of take().
  void keep(std::string_view key, std::string_view result);
  void keep(std::string_view key, std::string_view result, std::error_code& ec);

  // Forgets keys that were taken longer ago than `age`, by the server's wall clock, and returns
  // how many. A repeat that comes after that is done again: let `age` be longer than any retry.
  std::int64_t forget(std::chrono::seconds age);
  std::int64_t forget(std::chrono::seconds age, std::error_code& ec);

 private:
  PostgresSession& session_;
};

}  // namespace holdfast

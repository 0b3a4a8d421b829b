// A user's own connection to a PostgreSQL server, next to which the guards are installed.
#pragma once

#include "tests/support/pgbouncer.hpp"
#include "tests/support/postgres_server.hpp"
#include "tests/support/required.hpp"

#include <holdfast/guard/libpq.hpp>

#include <libpq-fe.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace holdfast::postgres_tests {

using test::PgBouncer;
using test::PostgresServer;

class PgUser {
 public:
  explicit PgUser(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
      throw std::runtime_error(PQerrorMessage(connection_.get()));
    }
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
  }

  // The SQLSTATE of a failure; "" if it worked.
  std::string run(const std::string& sql) { return asked(sql).first; }

  void must(const std::string& sql) {
    if (asked(sql).first != "") {
      throw std::runtime_error(sql + ": " + PQerrorMessage(connection_.get()));
    }
  }

  // The first column of the first row; "" if there is none.
  std::string one(const std::string& sql) {
    auto [state, value] = asked(sql);
    if (state != "") throw std::runtime_error(sql + ": " + PQerrorMessage(connection_.get()));
    return value;
  }

  // Rows that the last statement changed.
  std::int64_t changed() const { return changed_; }

  PqSession& session() { return session_; }
  PGconn* connection() { return connection_.get(); }
  std::string error() const { return PQerrorMessage(connection_.get()); }

  std::error_code admit(std::string_view resource, std::string_view name, std::int64_t fence,
                        std::int64_t floor = 0) {
    std::error_code ec = errc::busy;  // must be overwritten
    PostgresGuard{session_}.admit(resource, name, Fence{fence}, Fence{floor}, ec);
    return ec;
  }

  // Admits in a transaction of its own.
  std::error_code admitted(std::string_view resource, std::int64_t fence, std::int64_t floor = 0) {
    must("BEGIN");
    const auto ec = admit(resource, "payout", fence, floor);
    must(ec ? "ROLLBACK" : "COMMIT");
    return ec;
  }

 private:
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };

  std::pair<std::string, std::string> asked(const std::string& sql) {
    PGresult* const result = PQexec(connection_.get(), sql.c_str());
    const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const ExecStatusType status = PQresultStatus(result);
    std::pair<std::string, std::string> answer;
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      answer.first = state != nullptr ? state : "lost";
    } else {
      changed_ = std::atoll(PQcmdTuples(result));
      if (PQntuples(result) > 0) answer.second = PQgetvalue(result, 0, 0);
    }
    PQclear(result);
    return answer;
  }

  std::unique_ptr<PGconn, Finish> connection_;
  PqSession session_{connection_.get()};
  std::int64_t changed_ = 0;
};

// Returns when a session of this database waits for another one. Asks on a connection of its own:
// inside a transaction the server shows its first look again and again.
inline void await_waiter(const std::string& url) {
  PgUser watcher{url};
  while (watcher.one("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                     "datname = current_database()") == "0") {
    std::this_thread::yield();
  }
}

}  // namespace holdfast::postgres_tests

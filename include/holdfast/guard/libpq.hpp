// holdfast/guard/libpq.hpp: the PostgreSQL guards on a bare libpq connection.
//
//   PGconn* connection = PQconnectdb("postgres://app@db/shop");
//   holdfast::PqSession session{connection};
//   holdfast::PostgresGuard guard{session};
//
// Link holdfast::guard_libpq besides holdfast::holdfast. Not for libpqxx: see guard/pqxx.hpp.
#pragma once

#include <holdfast/guard/postgres.hpp>

struct pg_conn;  // PGconn of <libpq-fe.h>

namespace holdfast {

// As thread-safe as the connection, that is: not at all. The calls block.
class PqSession final : public PostgresSession {
 public:
  // `connection` must outlive the session, be in blocking mode and have no query under way.
  explicit PqSession(pg_conn* connection) noexcept : connection_(connection) {}

  Transaction transaction() override;
  PostgresAnswer run(const std::string& sql, const PostgresAnswer::Row& parameters) override;

 private:
  pg_conn* connection_;
};

}  // namespace holdfast

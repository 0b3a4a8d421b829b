// holdfast/guard/postgres_session.hpp: how the PostgreSQL guards reach the server. They use the
// connection and the transaction that you have, whatever your client library is:
//
//   holdfast::PqSession session{connection};      // <holdfast/guard/libpq.hpp>, a PGconn*
//   holdfast::PqxxSession session{transaction};   // <holdfast/guard/pqxx.hpp>, a pqxx::work
//
// For another library derive from PostgresSession. Not for SQL of your own: it knows text only.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace holdfast {

struct PostgresAnswer {
  using Row = std::vector<std::optional<std::string>>;  // nullopt: NULL

  bool failed = false;
  std::string sqlstate{};  // of a failure; empty if the connection was lost
  std::string message{};   // of a failure: the server's first line
  std::vector<Row> rows{};
};

// As thread-safe as the connection behind it.
class PostgresSession {
 public:
  enum class Transaction { none, open, failed };

  virtual ~PostgresSession() = default;

  // Whether what is written next belongs to a transaction of the caller. What cannot tell `failed`
  // says `open`.
  virtual Transaction transaction() = 0;

  // Runs one statement with $1, $2, … as text and waits for its answer. Must not prepare it: behind
  // a pooler the next transaction has another server process. Does not throw for what the server
  // says.
  virtual PostgresAnswer run(const std::string& sql, const PostgresAnswer::Row& parameters) = 0;
};

}  // namespace holdfast

// A real PgBouncer in transaction mode in front of a PostgresServer: two transactions of one
// client may run on two server connections.
//
//   HOLDFAST_NEEDS("pgbouncer", PgBouncer::installed(), PgBouncer::how_to_install);
//   PgBouncer pooler{server};
//   PQconnectdb(pooler.url().c_str());
#pragma once

#include "tests/support/postgres_server.hpp"

namespace holdfast::test {

class PgBouncer {
 public:
  static bool installed();
  static constexpr const char* how_to_install = "there is no pgbouncer (apt: pgbouncer)";

  // The server must outlive it. At most `pool_size` server connections a database and user.
  explicit PgBouncer(const PostgresServer& server, int pool_size = 20);

  std::uint16_t port() const noexcept { return port_; }
  std::string url(const std::string& database = "postgres",
                  const std::string& user = "postgres") const;

 private:
  bool start_once(const PostgresServer& server, int pool_size);

  TempDir dir_{};
  std::uint16_t port_ = 0;
  std::unique_ptr<Process> process_{};
};

}  // namespace holdfast::test

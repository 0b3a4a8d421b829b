// The fixtures themselves: what the other PostgreSQL tests stand on.
#include "tests/support/pgbouncer.hpp"
#include "tests/support/required.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

TEST(PostgresServer, KeepsWhatWasCommittedOverRestartAndCrash) {
  HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
  PostgresServer server;
  server.run("CREATE TABLE t(x int); INSERT INTO t VALUES(1)");
  server.restart();
  server.run("INSERT INTO t VALUES(2)");
  server.crash();
  EXPECT_THROW(server.run("SELECT 1"), std::runtime_error);
  server.start();
  EXPECT_EQ(server.run("SELECT x, 'y' FROM t ORDER BY x"), "1|y\n2|y");
}

TEST(PostgresServer, DatabasesOfTheSharedServerAreApart) {
  HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
  PostgresServer& server = PostgresServer::shared();
  const std::string first = server.new_database();
  const std::string second = server.new_database();
  PostgresServer::run_at(first, "CREATE TABLE here(x int)");
  EXPECT_EQ(PostgresServer::run_at(second, "SELECT to_regclass('here') IS NULL"), "t");
}

TEST(PgBouncer, PassesTransactionsOn) {
  HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
  HOLDFAST_NEEDS("pgbouncer", PgBouncer::installed(), PgBouncer::how_to_install);
  const PgBouncer pooler{PostgresServer::shared()};
  EXPECT_EQ(PostgresServer::run_at(pooler.url(), "SHOW port"),
            std::to_string(PostgresServer::shared().port()));
}

}  // namespace
}  // namespace holdfast::test

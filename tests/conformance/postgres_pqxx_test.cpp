// The same guards in a transaction of libpqxx.
#include "tests/support/postgres_server.hpp"
#include "tests/support/required.hpp"

#include <holdfast/guard/pqxx.hpp>

#include <gtest/gtest.h>

namespace holdfast::postgres_tests {
namespace {

using test::PostgresServer;

struct PqxxGuard : testing::Test {
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
    connection =
        std::make_unique<pqxx::connection>(PostgresServer::shared().new_database().c_str());
    pqxx::work work{*connection};
    PqxxSession session{work};
    PostgresGuard{session}.install();
    work.exec("CREATE TABLE job(id int PRIMARY KEY, fence bigint NOT NULL DEFAULT 0)");
    work.commit();
  }
  std::error_code admitted(std::int64_t fence, std::int64_t floor = 0) {
    pqxx::work work{*connection};
    PqxxSession session{work};
    std::error_code ec = errc::busy;
    PostgresGuard{session}.admit("job", "payout", Fence{fence}, Fence{floor}, ec);
    if (!ec) work.commit();
    return ec;
  }
  std::unique_ptr<pqxx::connection> connection{};
};

TEST_F(PqxxGuard, AdmitsAndRefuses) {
  EXPECT_FALSE(admitted(10));
  EXPECT_EQ(admitted(9), errc::stale_fence);
  EXPECT_EQ(admitted(0), errc::invalid_options);
  EXPECT_FALSE(admitted(12, 11));
  EXPECT_FALSE(admitted(11, 11));
}

TEST_F(PqxxGuard, SaysWhatTheServerSaid) {
  EXPECT_FALSE(admitted(10));
  pqxx::work work{*connection};
  PqxxSession session{work};
  try {
    PostgresGuard{session}.admit("job", "payout", Fence{9});
    FAIL() << "a stale fence was admitted";
  } catch (const Error& error) {
    EXPECT_EQ(error.detail(), "stale fence: resource \"job\" has seen fence 10, this one is 9");
  }
}

TEST_F(PqxxGuard, NeedsATransaction) {
  pqxx::nontransaction none{*connection};
  PqxxSession session{none};
  std::error_code ec;
  PostgresGuard{session}.admit("job", "payout", Fence{1}, Fence::none, ec);
  EXPECT_EQ(ec, errc::invalid_options);
}

TEST_F(PqxxGuard, OnceRowAndClaim) {
  pqxx::work work{*connection};
  PqxxSession session{work};
  PostgresOnce once{session};
  EXPECT_TRUE(once.take("k").first);
  once.keep("k", "result");
  EXPECT_EQ(once.take("k").result, "result");
  work.exec("INSERT INTO job VALUES(7, 5)");
  const auto changed = work.exec("UPDATE job SET fence = 4 WHERE id = 7 AND fence < 4");
  std::error_code ec;
  check_row_write(session, static_cast<std::int64_t>(changed.affected_rows()),
                  {.table = "job", .key_column = "id", .key = 7}, Fence{4}, ec);
  EXPECT_EQ(ec, errc::stale_fence);
  EXPECT_EQ(claim_rows(session, {.table = "job"}, 1), std::vector<std::string>{"7"});
}

TEST_F(PqxxGuard, ALostConnectionIsNoRefusal) {
  pqxx::work work{*connection};
  PqxxSession session{work};
  const std::string pid = std::to_string(connection->backendpid());
  PostgresServer::shared().run("SELECT pg_terminate_backend(" + pid + ", 5000)");
  std::error_code ec;
  PostgresGuard{session}.admit("job", "payout", Fence{1}, Fence::none, ec);
  EXPECT_EQ(ec, errc::store_unavailable);
}

}  // namespace
}  // namespace holdfast::postgres_tests

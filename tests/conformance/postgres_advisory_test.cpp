// mode=advisory on a real server: what it promises, what it refuses, and how a loss is heard of.
#include <holdfast/holdfast.hpp>

#include "tests/support/eventually.hpp"
#include "tests/support/pgbouncer.hpp"
#include "tests/support/postgres_server.hpp"
#include "tests/support/required.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace holdfast::conformance {
namespace {

using namespace std::chrono_literals;
using test::PgBouncer;
using test::PostgresServer;

class PostgresAdvisory : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
    database_ = PostgresServer::shared().new_database();
    a_ = std::make_unique<Client>(url());
    b_ = std::make_unique<Client>(url());
  }
  std::string url() const { return database_ + "?mode=advisory"; }
  std::string sql(const std::string& text) const { return PostgresServer::run_at(database_, text); }
  std::string locks_left() const {
    return sql(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
        "(SELECT oid FROM pg_database WHERE datname = current_database())");
  }
  // How long after `from` the lease was known to be lost; fails after `at_most`.
  static Duration lost_after(const Lease& lease, Instant from, Duration at_most) {
    while (lease.valid() && BootClock::now() < from + at_most) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_FALSE(lease.valid()) << "nothing was heard of the loss";
    return BootClock::now() - from;
  }

  std::string database_{};
  std::unique_ptr<Client> a_{};
  std::unique_ptr<Client> b_{};
};

TEST_F(PostgresAdvisory, ExcludesOthersAndItselfAndFencesRise) {
  Mutex mine{*a_, "job"};
  Lease lease = mine.acquire({.timeout = 5s});
  Mutex theirs{*b_, "job"};
  EXPECT_FALSE(theirs.try_acquire().has_value());
  Mutex again{*a_, "job"};
  EXPECT_FALSE(again.try_acquire().has_value()) << "a session may take its own lock twice";
  const Fence first = lease.fence();
  lease.release();
  EXPECT_EQ(locks_left(), "0");
  const auto next = theirs.try_acquire();
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(to_int(next->fence()), to_int(first));
}

TEST_F(PostgresAdvisory, AWaiterFindsTheNameFree) {
  Lease lease = Mutex{*a_, "job"}.acquire({.timeout = 5s});
  std::jthread release([&] {
    std::this_thread::sleep_for(300ms);
    lease.release();
  });
  const Instant from = BootClock::now();
  const Lease next = Mutex{*b_, "job"}.acquire({.timeout = 5s});
  EXPECT_LT(BootClock::now() - from, 1500ms);
}

TEST_F(PostgresAdvisory, ReadersShareAndWritersDoNot) {
  SharedMutex one{*a_, "data"};
  SharedMutex two{*b_, "data"};
  SharedMutex three{*a_, "data"};
  const Lease first = one.acquire_shared({.timeout = 5s});
  Lease second = two.acquire_shared({.timeout = 5s});
  EXPECT_EQ(second.floor(), first.fence());
  Lease third = three.acquire_shared({.timeout = 5s});
  EXPECT_FALSE(two.try_acquire().has_value());
  third.release();
  EXPECT_TRUE(first.valid());
  EXPECT_EQ(locks_left(), "2") << "one reader of a session took another's lock along";
}

TEST_F(PostgresAdvisory, TheLockEndsWithItsClient) {
  {
    Client dying{url()};
    Mutex{dying, "job"}.acquire({.timeout = 5s}).abandon();
  }
  const Lease next = Mutex{*b_, "job"}.acquire({.timeout = 2s});
  EXPECT_TRUE(next.valid());
}

TEST_F(PostgresAdvisory, AnEndedSessionIsHeardOfAtOnce) {
  const Lease lease = Mutex{*a_, "job"}.acquire({.timeout = 5s});
  const Instant from = BootClock::now();
  sql("SELECT pg_terminate_backend(backend) FROM holdfast.lock_hold");
  EXPECT_LT(lost_after(lease, from, 5s), 2s);
  EXPECT_EQ(lease.why_lost(), errc::taken);
  const Lease next = Mutex{*a_, "job"}.acquire({.timeout = 5s});
  EXPECT_GT(to_int(next.fence()), to_int(lease.fence()));
}

TEST_F(PostgresAdvisory, LimitsOfTheRoleEndNoSession) {
  sql("ALTER DATABASE " + database_.substr(database_.rfind('/') + 1) +
      " SET idle_session_timeout = '1s'");
  Client late{url()};
  const Lease lease = Mutex{late, "job", {.ttl = 30s}}.acquire({.timeout = 5s});
  std::this_thread::sleep_for(1500ms);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(locks_left(), "1");
}

TEST_F(PostgresAdvisory, NoTwoNamesShareAKey) {
  const Lease other = Mutex{*a_, "other"}.acquire({.timeout = 5s});
  sql("UPDATE holdfast.lock_key SET key = hashtextextended('job', 0) WHERE name = 'other'");
  const Lease lease = Mutex{*b_, "job"}.acquire({.timeout = 2s});
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(sql("SELECT count(DISTINCT key) FROM holdfast.lock_key"), "2");
}

TEST_F(PostgresAdvisory, BreakingNowFreesTheName) {
  const Lease lease = Mutex{*a_, "job", {.ttl = 3s}}.acquire({.timeout = 5s});
  EXPECT_EQ(b_->break_name("job", BreakMode::now).holders.size(), 1U);
  const Lease next = Mutex{*b_, "job"}.acquire({.timeout = 2s});
  EXPECT_GT(to_int(next.fence()), to_int(lease.fence()));
  lost_after(lease, BootClock::now(), 5s);
}

TEST_F(PostgresAdvisory, RefusesWhatItCannotKeep) {
  const auto refused = [](const auto& attempt) {
    try {
      attempt();
      return std::string{"granted"};
    } catch (const Error& error) {
      return error.code() == errc::unsupported ? error.detail() : std::string{error.what()};
    }
  };
  EXPECT_NE(refused([&] {
              static_cast<void>(Mutex{*a_, "job", {.lock_delay = 1s}}.acquire({.timeout = 1s}));
            }).find("ends with its session"),
            std::string::npos);
  EXPECT_NE(refused([&] {
              static_cast<void>(Semaphore{*a_, "pool", 2}.acquire({.timeout = 1s}));
            }).find("no semaphores"),
            std::string::npos);
}

TEST_F(PostgresAdvisory, ATransactionPoolerIsRefusedAndNamed) {
  HOLDFAST_NEEDS("pgbouncer", PgBouncer::installed(), PgBouncer::how_to_install);
  PgBouncer pooler{PostgresServer::shared(), 2};
  Client client{pooler.url() + "?mode=advisory"};
  std::error_code ec;
  try {
    const Lease lease = Mutex{client, "job"}.acquire({.timeout = 2s});
    ADD_FAILURE() << "a lock in somebody else's session";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::unsupported);
    EXPECT_NE(error.detail().find("PgBouncer"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace holdfast::conformance

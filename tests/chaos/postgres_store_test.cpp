// The PostgreSQL store and what is particular to it: a transaction pooler (C28), a holder's own
// CREATE INDEX CONCURRENTLY, and servers that crash, restart and fall silent while a lease is held.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/contender.hpp"
#include "tests/chaos/proxied_link.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/pgbouncer.hpp"
#include "tests/support/postgres_server.hpp"
#include "tests/support/required.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;
using test::PgBouncer;
using test::PostgresServer;

class C28 : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
    HOLDFAST_NEEDS("pgbouncer", PgBouncer::installed(), PgBouncer::how_to_install);
  }
  test::TempDir dir_{};
  test::OverlapLog log_{dir_ / "overlap.log"};
};

TEST_F(C28, SixClientsShareTwoSessionsWithoutOverlap) {
  PostgresServer server;
  PgBouncer pooler{server, 2};
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<Contender>> contenders;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<Client>(pooler.url()));
    contenders.push_back(std::make_unique<Contender>(
        *clients.back(), "job", LeaseOptions{.ttl = 5s}, 100ms, log_, "c" + std::to_string(i)));
  }
  std::this_thread::sleep_for(short_or_full<Duration>(5s, 60s));
  int grants = 0;
  for (auto& contender : contenders) {
    contender->stop();
    grants += contender->grants();
  }
  EXPECT_EQ(log_.check(), "");
  EXPECT_GE(grants, short_or_full(3, 30));
  EXPECT_EQ(server.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), "0");
  figure("C28 lease, 6 clients, pool of 2: grants=", grants);
}

class PostgresConcurrently : public ::testing::TestWithParam<const char*> {};

TEST_P(PostgresConcurrently, AnIndexIsBuiltWhileThreeWait) {
  HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
  const std::string database = PostgresServer::shared().new_database();
  const std::string url = database + "?mode=" + GetParam();
  PostgresServer::run_at(database, "CREATE TABLE t AS SELECT generate_series(1, 1000) AS x");
  Client holder{url};
  Lease lease = Mutex{holder, "job"}.acquire({.timeout = 5s});
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::jthread> waiters;
  std::atomic<int> entered{0};
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Client>(url));
    waiters.emplace_back([&client = *clients.back(), &entered] {
      const Lease next = Mutex{client, "job"}.acquire({.timeout = 20s});
      ++entered;
    });
  }
  std::this_thread::sleep_for(500ms);
  const Instant from = BootClock::now();
  PostgresServer::run_at(database, "CREATE INDEX CONCURRENTLY ON t (x)");
  const Duration took = BootClock::now() - from;
  EXPECT_LT(took, 5s);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(entered, 0);
  lease.release();
  waiters.clear();
  EXPECT_EQ(entered, 3);
  figure("CREATE INDEX CONCURRENTLY ", GetParam(), ", three wait: took_ms=", ms(took));
}

INSTANTIATE_TEST_SUITE_P(Mode, PostgresConcurrently, ::testing::Values("lease", "advisory"),
                         [](const auto& mode) { return std::string{mode.param}; });

class PostgresFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
  }
  test::TempDir dir_{};
  test::OverlapLog log_{dir_ / "overlap.log"};
  static int rounds() { return short_or_full(1, 50); }
};

TEST_F(PostgresFaults, ACrashAndARestartCostNoLease) {
  PostgresServer server{{.durable = true}};
  Client a{server.url()};
  Client b{server.url()};
  for (int i = 0; i < 2 * rounds(); ++i) {
    Lease lease = Mutex{a, "job", {.ttl = 10s}}.acquire({.timeout = 10s});
    const std::uint64_t before = a.counters().renewed;
    i % 2 == 0 ? server.crash() : server.shut_down();
    server.start();
    std::error_code ec;
    EXPECT_FALSE(Mutex(b, "job").try_acquire(ec).has_value());
    test::eventually([&] { return a.counters().renewed > before; });
    EXPECT_TRUE(lease.valid()) << lease.why_lost().message();
    lease.release();
  }
  EXPECT_EQ(a.counters().lost, 0U);
}

TEST_F(PostgresFaults, WhoIsCutOffHasLostItBeforeAnotherIsGranted) {
  PostgresServer& server = PostgresServer::shared();
  const std::string database = server.new_database();
  const std::string name = database.substr(database.rfind('/'));
  for (int i = 0; i < rounds(); ++i) {
    ProxiedLink link{server.port(), [&](std::uint16_t port) {
                       return "postgres://postgres@127.0.0.1:" + std::to_string(port) + name;
                     }};
    const auto a = link.connect();
    Client b{database};
    const Lease lease = Mutex{*a, "job", {.ttl = 1s}}.acquire({.timeout = 5s});
    const LossLog mine{lease, log_};
    link.fault(Fault::blackhole);
    const Lease next = Mutex{b, "job"}.acquire({.timeout = 10s});
    log_.enter("B", to_int(next.fence()));
    EXPECT_FALSE(lease.valid());
    EXPECT_GT(to_int(next.fence()), to_int(lease.fence()));
    EXPECT_EQ(mine.losses(), 1);
    log_.leave("B", to_int(next.fence()));
    link.fault(Fault::pass);
  }
  EXPECT_EQ(log_.check(), "");
}

// C29: the session that holds or waits is ended by somebody else.
class C29 : public PostgresFaults {
 protected:
  std::string database_ =
      PostgresServer::installed() ? PostgresServer::shared().new_database() : "";

  void end_all_sessions() const {
    PostgresServer::run_at(database_,
                           "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                           "current_database() AND pid <> pg_backend_pid()");
  }
};

TEST_F(C29, ALeaseOutlivesItsSessions) {
  Client a{database_};
  Client b{database_};
  Lease lease = Mutex{a, "job", {.ttl = 3s}}.acquire({.timeout = 5s});
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = a.counters().renewed;
    end_all_sessions();
    EXPECT_TRUE(test::eventually([&] { return a.counters().renewed > before; }));
    std::error_code ec;
    EXPECT_FALSE(Mutex(b, "job").try_acquire(ec).has_value());
  }
  EXPECT_TRUE(lease.valid());
  lease.release();
}

TEST_F(C29, ASessionLockIsLostWithItsSessionAndSaysSo) {
  Client a{database_ + "?mode=advisory"};
  Client b{database_ + "?mode=advisory"};
  const Lease lease = Mutex{a, "job"}.acquire({.timeout = 5s});
  const LossLog mine{lease, log_};
  const Instant from = BootClock::now();
  end_all_sessions();
  EXPECT_TRUE(test::eventually([&] { return mine.losses() == 1; }));
  const Duration heard = mine.told_at() - from;
  EXPECT_LT(heard, 5s);
  const Lease next = Mutex{b, "job"}.acquire({.timeout = 5s});
  EXPECT_GT(to_int(next.fence()), to_int(lease.fence()));
  figure("C29 advisory, session ended: heard_after_ms=", ms(heard));
}

// C31: who missed its liveness in the queue has lost its place, and is not granted by it.
using C31 = PostgresFaults;

TEST_F(C31, WhoWasCutOffInTheQueueIsNotServedByItsOldPlace) {
  PostgresServer& server = PostgresServer::shared();
  const std::string database = server.new_database();
  const std::string name = database.substr(database.rfind('/'));
  ProxiedLink link{server.port(), [&](std::uint16_t port) {
                     return "postgres://postgres@127.0.0.1:" + std::to_string(port) + name;
                   }};
  Client a{database};
  Client d{database};
  const auto b = link.connect();
  Lease held = Mutex{a, "job"}.acquire({.timeout = 5s});
  log_.enter("A", to_int(held.fence()));
  const auto waits = [&](std::size_t count) {
    return test::eventually([&] { return a.inspect("job").waiters.size() == count; });
  };
  const auto take = [&](Client& client, const char* id, LeaseOptions options) {
    Lease lease = Mutex{client, "job", options}.acquire({.timeout = 20s});
    log_.enter(id, to_int(lease.fence()));
    std::this_thread::sleep_for(300ms);
    log_.leave(id, to_int(lease.fence()));
  };
  std::jthread b_thread([&] { take(*b, "B", {.ttl = 1s}); });
  ASSERT_TRUE(waits(1));
  std::jthread d_thread([&] { take(d, "D", {.ttl = 10s}); });
  ASSERT_TRUE(waits(2));
  link.fault(Fault::blackhole);
  ASSERT_TRUE(waits(1)) << "the place was kept without a beat";
  log_.leave("A", to_int(held.fence()));
  held.release();
  d_thread.join();
  link.fault(Fault::pass);
  link.reset();
  b_thread.join();
  EXPECT_EQ(log_.check(), "");
  const auto inside = log_.intervals();
  ASSERT_EQ(inside.size(), 3U);
  EXPECT_EQ(inside[1].id, "D");
  EXPECT_EQ(inside[2].id, "B");
}

// R06: nothing hangs that ends after the server did.
using R06 = PostgresFaults;

TEST_F(R06, WhatIsLeftAfterARestartEndsInTime) {
  for (const char* mode : {"lease", "advisory"}) {
    SCOPED_TRACE(mode);
    PostgresServer server;
    auto client = std::make_unique<Client>(server.url() + "?mode=" + mode);
    auto lease = std::make_unique<Lease>(Mutex{*client, "job"}.acquire({.timeout = 5s}));
    auto second = std::make_unique<Lease>(Mutex{*client, "other"}.acquire({.timeout = 5s}));
    server.crash();
    const Instant down = BootClock::now();
    lease.reset();
    EXPECT_LT(BootClock::now() - down, 3s);
    server.start();
    const Instant up = BootClock::now();
    second.reset();
    client.reset();
    EXPECT_LT(BootClock::now() - up, 5s);
  }
}

}  // namespace
}  // namespace holdfast::chaos

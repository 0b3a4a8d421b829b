// What many sessions do at once under the resource guard.
#include "tests/conformance/postgres_user.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

namespace holdfast::postgres_tests {
namespace {

bool soak() { return std::getenv("HOLDFAST_SOAK") != nullptr; }

struct PostgresRace : testing::Test {
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
    url = PostgresServer::shared().new_database();
    user = std::make_unique<PgUser>(url);
    user->must("CREATE TABLE account(id int PRIMARY KEY, balance int, log text DEFAULT '')");
    user->must("INSERT INTO account SELECT i, 0 FROM generate_series(0, 9) AS i");
    PostgresGuard{user->session()}.install();
  }
  std::string url{};
  std::unique_ptr<PgUser> user{};
};

struct PostgresIsolation : PostgresRace, testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Level, PostgresIsolation,
                         testing::Values("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"),
                         [](const auto& level) {
                           std::string name = level.param;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

// Read, then write what was read plus one: lost updates show that two sessions were inside at once.
TEST_P(PostgresIsolation, RacingSessionsSerialise) {
  constexpr int sessions = 4;
  constexpr int each = 50;
  std::atomic<int> again{0};
  const auto work = [&] {
    PgUser own{url};
    for (int done = 0; done < each;) {
      own.must(std::string("BEGIN ISOLATION LEVEL ") + GetParam());
      const auto ec = own.admit("account", "payout", 7);
      if (!ec) {
        const int balance = std::stoi(own.one("SELECT balance FROM account WHERE id = 0"));
        own.must("UPDATE account SET balance = " + std::to_string(balance + 1) + " WHERE id = 0");
      } else {
        ASSERT_EQ(ec, errc::store_unavailable) << own.error();
      }
      own.must(ec ? "ROLLBACK" : "COMMIT");
      done += ec ? 0 : 1;
      again += ec ? 1 : 0;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < sessions; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(user->one("SELECT balance FROM account WHERE id = 0"), std::to_string(sessions * each));
  if (std::string_view{GetParam()} == "READ COMMITTED") {
    EXPECT_EQ(again, 0);
  }
}

// A snapshot that was taken before another session's admitted write must not be read on.
TEST_P(PostgresIsolation, AnOldSnapshotIsNotAdmitted) {
  EXPECT_FALSE(user->admitted("r", 5));
  PgUser late{url};
  late.must(std::string("BEGIN ISOLATION LEVEL ") + GetParam());
  EXPECT_EQ(late.one("SELECT count(*) FROM account"), "10");
  user->must("BEGIN");
  EXPECT_FALSE(user->admit("r", "payout", 5));
  user->must("INSERT INTO account VALUES(10, 0); COMMIT");
  const auto ec = late.admit("r", "payout", 6);
  if (std::string_view{GetParam()} == "READ COMMITTED") {
    EXPECT_FALSE(ec);
    EXPECT_EQ(late.one("SELECT count(*) FROM account"), "11");
  } else {
    EXPECT_EQ(ec, errc::store_unavailable);
  }
  late.must("ROLLBACK");
}

// A stale one that waits for the new holder's transaction is refused as soon as that commits.
TEST_P(PostgresIsolation, WhoWaitsForANewerHolderIsRefused) {
  EXPECT_FALSE(user->admitted("r", 1));
  user->must("BEGIN");
  EXPECT_FALSE(user->admit("r", "payout", 2));
  std::error_code ec;
  std::thread stale{[&] {
    PgUser own{url};
    own.must(std::string("BEGIN ISOLATION LEVEL ") + GetParam());
    ec = own.admit("r", "payout", 1);
    own.must("ROLLBACK");
    if (ec == errc::store_unavailable) ec = own.admitted("r", 1);  // a serialisation failure
  }};
  await_waiter(url);
  user->must("COMMIT");
  stale.join();
  EXPECT_EQ(ec, errc::stale_fence);
}

TEST_F(PostgresRace, NoDeadLockInRandomPairs) {
  const int pairs = soak() ? 10'000 : 400;
  constexpr unsigned sessions = 4;
  std::atomic<int> left{pairs};
  std::atomic<int> deadlocks{0};
  const auto work = [&](unsigned seed) {
    PgUser own{url};
    PostgresGuard guard{own.session()};
    std::mt19937 random{seed};
    while (left-- > 0) {
      const std::string first = "r" + std::to_string(random() % 5);
      const std::string second = "r" + std::to_string(random() % 5);
      const std::array<std::string_view, 2> pair = {first, second};
      own.must("BEGIN");
      std::error_code ec;
      guard.admit_all(pair, "payout", Fence{7}, Fence::none, ec);
      deadlocks += ec ? 1 : 0;
      if (!ec) {
        own.must("UPDATE account SET balance = balance + 1 WHERE id = " + first.substr(1));
      }
      own.must(ec ? "ROLLBACK" : "COMMIT");
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < sessions; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(deadlocks, 0);
  EXPECT_EQ(user->one("SELECT sum(balance) FROM account"), std::to_string(pairs));
  std::cout << pairs << " random pairs of resources by " << sessions << " sessions, " << deadlocks
            << " dead-locks\n";
}

TEST_F(PostgresRace, TheFirstAdmissionOfAResourceIsARaceToo) {
  for (int round = 0; round < 20; ++round) {
    const std::string resource = "new " + std::to_string(round);
    std::array<std::error_code, 2> codes{};
    const auto first = [&](std::int64_t fence, std::error_code& ec) {
      PgUser own{url};
      ec = own.admitted(resource, fence);
    };
    std::thread older{first, 1, std::ref(codes[0])};
    std::thread newer{first, 2, std::ref(codes[1])};
    older.join();
    newer.join();
    EXPECT_FALSE(codes[1]) << "the newer fence always passes";
    EXPECT_TRUE(!codes[0] || codes[0] == errc::stale_fence) << codes[0].message();
    EXPECT_EQ(user->one("SELECT mark FROM holdfast.guard_mark WHERE resource = '" + resource + "'"),
              "2");
  }
}

// Transactions of one client run on several server connections, and the guard holds.
TEST_F(PostgresRace, HoldsBehindATransactionPooler) {
  HOLDFAST_NEEDS("pgbouncer", PgBouncer::installed(), PgBouncer::how_to_install);
  const PgBouncer pooler{PostgresServer::shared(), 3};
  const std::string pooled = pooler.url(url.substr(url.rfind('/') + 1));
  constexpr int sessions = 8;
  constexpr int each = 25;
  std::atomic<std::int64_t> fence{1};
  std::atomic<int> written{0};
  const auto work = [&] {
    PgUser own{pooled};
    for (int i = 0; i < each; ++i) {
      const std::int64_t mine = fence++;
      own.must("BEGIN");
      const auto ec = own.admit("account", "payout", mine);
      ASSERT_TRUE(!ec || ec == errc::stale_fence) << ec.message() << own.error();
      if (!ec) {
        own.must("UPDATE account SET balance = balance + 1, log = log || '" + std::to_string(mine) +
                 " ' WHERE id = 0");
      }
      own.must(ec ? "ROLLBACK" : "COMMIT");
      written += ec ? 0 : 1;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < sessions; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(user->one("SELECT balance FROM account WHERE id = 0"), std::to_string(written));
  EXPECT_EQ(user->one("SELECT count(*) FROM (SELECT f::bigint, lag(f::bigint) OVER (ORDER BY n) AS "
                      "before FROM account, regexp_split_to_table(trim(log), ' ') WITH ORDINALITY "
                      "AS s(f, n) WHERE id = 0) AS pairs WHERE f < before"),
            "0")
      << "fences were written out of order";
}

}  // namespace
}  // namespace holdfast::postgres_tests

// The guards that need no lock, or only its fence: once, row, version, claim.
#include "tests/conformance/postgres_user.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace holdfast::postgres_tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct PostgresPatterns : testing::Test {
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
    url = PostgresServer::shared().new_database();
    user = std::make_unique<PgUser>(url);
    PostgresGuard{user->session()}.install();
    once = std::make_unique<PostgresOnce>(user->session());
  }
  std::error_code code_of(const std::function<void(std::error_code&)>& call) {
    std::error_code ec = errc::busy;
    call(ec);
    return ec;
  }
  std::string url{};
  std::unique_ptr<PgUser> user{};
  std::unique_ptr<PostgresOnce> once{};
};

using PostgresOnceGuard = PostgresPatterns;
using PostgresRowGuard = PostgresPatterns;
using PostgresVersionGuard = PostgresPatterns;
using PostgresClaim = PostgresPatterns;

// ---- once -------------------------------------------------------------------------------------

TEST_F(PostgresOnceGuard, ARepeatGetsTheFirstResult) {
  user->must("BEGIN");
  const OnceAnswer first = once->take("payment 1", Fence{7});
  EXPECT_TRUE(first.first);
  EXPECT_FALSE(first.result);
  once->keep("payment 1", "receipt '1'");
  user->must("COMMIT");

  PgUser other{url};
  other.must("BEGIN");
  const OnceAnswer repeat = PostgresOnce{other.session()}.take("payment 1", Fence{9});
  EXPECT_FALSE(repeat.first);
  EXPECT_EQ(repeat.result, "receipt '1'");
  EXPECT_EQ(repeat.fence, Fence{7});
  EXPECT_TRUE(PostgresOnce{other.session()}.take("payment 2").first) << "keys are independent";
  other.must("ROLLBACK");
}

TEST_F(PostgresOnceGuard, WithoutAResultARepeatIsStillARepeat) {
  user->must("BEGIN");
  EXPECT_TRUE(once->take("k").first);
  user->must("COMMIT; BEGIN");
  const OnceAnswer repeat = once->take("k");
  EXPECT_FALSE(repeat.first);
  EXPECT_FALSE(repeat.result);
  EXPECT_EQ(repeat.fence, Fence::none);
  user->must("ROLLBACK");
}

TEST_F(PostgresOnceGuard, ARepeatWaitsForTheFirstAndTakesOverIfItFails) {
  for (const bool commits : {true, false}) {
    const std::string key = commits ? "kept" : "failed";
    user->must("BEGIN");
    EXPECT_TRUE(once->take(key, Fence{1}).first);
    once->keep(key, "done");
    OnceAnswer answer;
    std::thread repeat{[&] {
      PgUser own{url};
      own.must("BEGIN");
      answer = PostgresOnce{own.session()}.take(key, Fence{2});
      own.must("COMMIT");
    }};
    await_waiter(url);
    user->must(commits ? "COMMIT" : "ROLLBACK");
    repeat.join();
    EXPECT_EQ(answer.first, !commits);
    EXPECT_EQ(answer.result, commits ? std::optional<std::string>{"done"} : std::nullopt);
  }
}

// At REPEATABLE READ the first one's commit is not in the snapshot: that is told, not guessed.
TEST_F(PostgresOnceGuard, AnOldSnapshotStartsAgain) {
  PgUser late{url};
  late.must("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
  EXPECT_EQ(late.one("SELECT count(*) FROM holdfast.once_key"), "0");
  user->must("BEGIN");
  once->take("k");
  user->must("COMMIT");
  PostgresOnce other{late.session()};
  EXPECT_EQ(code_of([&](auto& ec) { other.take("k", Fence::none, ec); }), errc::store_unavailable);
  late.must("ROLLBACK");
}

TEST_F(PostgresOnceGuard, SaysWhatIsWrong) {
  EXPECT_EQ(code_of([&](auto& ec) { once->take("k", Fence{1}, ec); }), errc::invalid_options)
      << "no transaction";
  const auto refused = [&](const std::function<void(std::error_code&)>& call) {
    user->must("BEGIN");
    const auto ec = code_of(call);
    user->must("ROLLBACK");
    return ec;
  };
  EXPECT_EQ(refused([&](auto& ec) { once->take("", Fence{1}, ec); }), errc::invalid_options);
  EXPECT_EQ(refused([&](auto& ec) { once->take("k", Fence{-1}, ec); }), errc::invalid_options);
  EXPECT_EQ(refused([&](auto& ec) { once->keep("k", "result", ec); }), errc::not_found);
  EXPECT_EQ(refused([&](auto& ec) {
              once->take("k");
              once->keep("k", "result");
              once->keep("k", "another", ec);
            }),
            errc::already_written);
}

TEST_F(PostgresOnceGuard, ForgetsWhatIsOld) {
  user->must("BEGIN");
  once->take("old");
  once->take("new");
  user->must("COMMIT");
  user->must("UPDATE holdfast.once_key SET taken_at = now() - interval '2 days' WHERE key = 'old'");
  EXPECT_EQ(once->forget(std::chrono::hours{24}), 1);
  user->must("BEGIN");
  EXPECT_TRUE(once->take("old").first);
  EXPECT_FALSE(once->take("new").first);
  user->must("ROLLBACK");
}

// ---- row --------------------------------------------------------------------------------------

TEST_F(PostgresRowGuard, TellsWhyNothingChanged) {
  user->must("CREATE SCHEMA \"odd schema\"");
  user->must("CREATE TABLE \"odd schema\".\"odd \"\" table\"(\"a key\" text, v int, fence bigint)");
  user->must(
      "INSERT INTO \"odd schema\".\"odd \"\" table\" VALUES('k', 0, 10), ('unset', 0, NULL)");
  const PostgresRow row{
      .schema = "odd schema", .table = "odd \" table", .key_column = "a key", .key = "k"};
  const auto outcome = [&](const PostgresRow& which, std::int64_t fence) {
    return code_of([&](auto& ec) { check_row_write(user->session(), 0, which, Fence{fence}, ec); });
  };
  EXPECT_EQ(outcome(row, 9), errc::stale_fence);
  EXPECT_EQ(outcome(row, 10), errc::already_written);
  EXPECT_EQ(outcome(row, 11), errc::invalid_options) << "the row would have been written";
  EXPECT_EQ(outcome(row, 0), errc::invalid_options);
  PostgresRow other = row;
  other.key = "no such key'; DROP TABLE ledger";
  EXPECT_EQ(outcome(other, 9), errc::not_found);
  other.key = "unset";
  EXPECT_EQ(outcome(other, 9), errc::invalid_options);
  other = row;
  other.fence_column = "no such column";
  EXPECT_EQ(outcome(other, 9), errc::invalid_options);
  other.table = "no such table";
  EXPECT_EQ(outcome(other, 9), errc::invalid_options);
  check_row_write(user->session(), 1, other, Fence{9});  // something changed: nothing to look at
}

TEST_F(PostgresRowGuard, EachRowOncePerFence) {
  user->must("CREATE TABLE job(id int PRIMARY KEY, state text, fence bigint NOT NULL DEFAULT 0)");
  user->must("INSERT INTO job VALUES(7, 'new')");
  const auto write = [&](std::int64_t fence) {
    const std::string number = std::to_string(fence);
    user->must("UPDATE job SET state = 'by " + number + "', fence = " + number +
               " WHERE id = 7 AND fence < " + number);
    return code_of([&](auto& ec) {
      check_row_write(user->session(), user->changed(),
                      {.table = "job", .key_column = "id", .key = 7}, Fence{fence}, ec);
    });
  };
  EXPECT_FALSE(write(5));
  EXPECT_EQ(write(5), errc::already_written);
  EXPECT_EQ(write(4), errc::stale_fence);
  EXPECT_FALSE(write(6));
  EXPECT_EQ(user->one("SELECT state FROM job"), "by 6");
}

// ---- version ----------------------------------------------------------------------------------

TEST_F(PostgresVersionGuard, TellsAConflictFromAMissingRow) {
  user->must(
      "CREATE TABLE article(id int PRIMARY KEY, body text, version bigint NOT NULL DEFAULT 0)");
  user->must("INSERT INTO article VALUES(7, 'first')");
  const auto write = [&](int id, int read, const std::string& more = "") {
    user->must("UPDATE article SET version = version + 1 WHERE id = " + std::to_string(id) +
               " AND version = " + std::to_string(read) + more);
    return code_of([&](auto& ec) {
      check_version_write(user->session(), user->changed(),
                          {.table = "article", .key_column = "id", .key = id}, read, ec);
    });
  };
  EXPECT_FALSE(write(7, 0));
  EXPECT_EQ(write(7, 0), errc::version_conflict);
  EXPECT_FALSE(write(7, 1));
  EXPECT_EQ(write(8, 0), errc::not_found);
  EXPECT_EQ(write(7, 2, " AND body = 'other'"), errc::invalid_options);
}

// ---- claim ------------------------------------------------------------------------------------

TEST_F(PostgresClaim, WorkersGetDifferentRowsAndADeadOneGivesThemBack) {
  user->must("CREATE TABLE job(id int PRIMARY KEY, state text)");
  user->must("INSERT INTO job SELECT i, 'open' FROM generate_series(1, 5) AS i");
  const PostgresQueue open{.table = "job", .condition = "state = 'open' -- or what you like"};
  EXPECT_EQ(code_of([&](auto& ec) { claim_rows(user->session(), open, 2, ec); }),
            errc::invalid_options)
      << "no transaction";
  user->must("BEGIN");
  EXPECT_THAT(claim_rows(user->session(), open, 2), ElementsAre("1", "2"));
  {
    PgUser dies{url};
    dies.must("BEGIN");
    EXPECT_THAT(claim_rows(dies.session(), open, 2), ElementsAre("3", "4"));
    PgUser third{url};
    third.must("BEGIN");
    EXPECT_THAT(claim_rows(third.session(), open, 10), ElementsAre("5"));
    EXPECT_THAT(claim_rows(dies.session(), {.table = "job", .condition = "id = 1 OR id = 5"}, 1),
                IsEmpty());
  }
  user->must("UPDATE job SET state = 'done' WHERE id < 3");
  user->must("COMMIT");
  PgUser other{url};
  std::vector<std::string> keys;
  while (keys.size() < 3) {  // until the server has noticed that those sessions are gone
    other.must("ROLLBACK; BEGIN");
    keys = claim_rows(other.session(), open, 10);
  }
  EXPECT_THAT(keys, ElementsAre("3", "4", "5"));
  other.must("ROLLBACK; BEGIN");
  EXPECT_EQ(code_of([&](auto& ec) { claim_rows(other.session(), open, 0, ec); }),
            errc::invalid_options);
  EXPECT_EQ(code_of([&](auto& ec) { claim_rows(other.session(), {.table = "none"}, 1, ec); }),
            errc::invalid_options);
  other.must("ROLLBACK");
}

}  // namespace
}  // namespace holdfast::postgres_tests

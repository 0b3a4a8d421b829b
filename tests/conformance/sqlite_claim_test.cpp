// The version guard and shared tables of work on SQLite.
#include "tests/conformance/sqlite_fixture.hpp"
#include "tests/conformance/sqlite_user.hpp"

#include <holdfast/guard/sqlite.hpp>

#include <set>
#include <thread>

namespace holdfast::sqlite_tests {
namespace {

using testing::ElementsAre;

class SqliteVersionTest : public testing::Test {
 protected:
  SqliteVersionTest() {
    db.must("CREATE TABLE article(id INTEGER PRIMARY KEY, body, version INTEGER)");
    db.must("INSERT INTO article VALUES(1, 'a', 3), (2, 'b', NULL)");
  }
  std::error_code written(std::int64_t id, std::int64_t read) {
    db.must("UPDATE article SET body = 'new', version = version + 1 WHERE id = " +
            std::to_string(id) + " AND version = " + std::to_string(read));
    std::error_code ec = errc::busy;
    check_version_write(db, sqlite3_changes(db),
                        {.table = "article", .key_column = "id", .key = id}, read, ec);
    return ec;
  }
  Db db{":memory:"};
};

TEST_F(SqliteVersionTest, WritesOnlyWhatIsStillAsItWasRead) {
  EXPECT_FALSE(written(1, 3));
  EXPECT_EQ(written(1, 3), errc::version_conflict);
  EXPECT_FALSE(written(1, 4));
  EXPECT_EQ(written(1, 6), errc::version_conflict);
  EXPECT_EQ(written(7, 1), errc::not_found);
  EXPECT_EQ(written(2, 0), errc::invalid_options) << "a version that is NULL";
}

TEST_F(SqliteVersionTest, SaysWhatIsThere) {
  const SqliteVersionedRow row{
      .table = "article", .key_column = "id", .key = 1, .version_column = "version"};
  try {
    check_version_write(db, 0, row, 2);
    FAIL() << "no conflict";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::version_conflict);
    EXPECT_EQ(error.detail(), "row 1 of article has version 3, it was read as 2");
  }
  EXPECT_THROW(check_version_write(db, 0, row, 3), Error) << "another condition did not hold";
}

class SqliteClaimTest : public testing::Test {
 protected:
  SqliteClaimTest() {
    db.must(
        "CREATE TABLE job(id INTEGER PRIMARY KEY, state TEXT DEFAULT 'open', "
        "claim INTEGER NOT NULL DEFAULT 0, claim_until INTEGER DEFAULT 0)");
  }
  void fill(int rows) {
    db.must("BEGIN");
    for (int row = 0; row < rows; ++row) db.must("INSERT INTO job DEFAULT VALUES");
    db.must("COMMIT");
  }
  static std::vector<std::int64_t> keys(const std::vector<ClaimedRow>& rows) {
    std::vector<std::int64_t> keys;
    for (const ClaimedRow& row : rows) keys.push_back(std::get<std::int64_t>(row.key));
    return keys;
  }
  std::error_code finished(Db& by, const ClaimedRow& row) {
    by.must("UPDATE job SET state = 'done', claim_until = NULL WHERE id = " +
            std::to_string(std::get<std::int64_t>(row.key)) +
            " AND claim = " + std::to_string(row.claim));
    std::error_code ec = errc::busy;
    check_claim_write(by, sqlite3_changes(by), queue, row, ec);
    return ec;
  }
  // As if the time of every claim were over.
  void let_claims_end() { db.must("UPDATE job SET claim_until = 1 WHERE claim_until > 1"); }

  TempDir dir{"/dev/shm"};
  std::string path = dir / "app.db";
  Db db{path};
  SqliteQueue queue{.table = "job"};
};

TEST_F(SqliteClaimTest, EachRowGoesToOneWorker) {
  fill(5);
  EXPECT_THAT(keys(claim_rows(db, queue, 2, 1min)), ElementsAre(1, 2));
  EXPECT_THAT(keys(claim_rows(db, queue, 2, 1min)), ElementsAre(3, 4));
  EXPECT_THAT(keys(claim_rows(db, queue, 2, 1min)), ElementsAre(5));
  EXPECT_TRUE(claim_rows(db, queue, 2, 1min).empty());
}

TEST_F(SqliteClaimTest, ARowOfADeadWorkerIsClaimedAgainAndItsLateWriteRefused) {
  fill(2);
  const auto late = claim_rows(db, queue, 1, 1min).at(0);
  let_claims_end();
  const auto next = claim_rows(db, queue, 1, 1min).at(0);
  EXPECT_EQ(next.key, late.key);
  EXPECT_GT(next.claim, late.claim);
  EXPECT_EQ(finished(db, late), errc::not_owner);
  std::error_code ec;
  extend_claim(db, queue, late, 1min, ec);
  EXPECT_EQ(ec, errc::not_owner);
  EXPECT_FALSE(finished(db, next));
  EXPECT_THAT(keys(claim_rows(db, queue, 9, 1min)), ElementsAre(2))
      << "what is done is not claimed";
  extend_claim(db, queue, next, 1min, ec);
  EXPECT_EQ(ec, errc::invalid_options) << "what is done is not extended";
}

TEST_F(SqliteClaimTest, AClaimCanBeExtendedAndEnds) {
  fill(1);
  const auto row = claim_rows(db, queue, 1, 1ms).at(0);
  extend_claim(db, queue, row, 1h);
  EXPECT_TRUE(claim_rows(db, queue, 1, 1min).empty());
  extend_claim(db, queue, row, 1ns + 1ms);
  std::vector<ClaimedRow> again;
  for (int turn = 0; turn < 1000 && again.empty(); ++turn) {
    std::this_thread::sleep_for(1ms);
    again = claim_rows(db, queue, 1, 1min);
  }
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].claim, 2);
}

TEST_F(SqliteClaimTest, AnyTableAndAnyKey) {
  db.must(
      "CREATE TABLE \"a \"\" job\"(\"k\" TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0, "
      "u INTEGER DEFAULT 0) WITHOUT ROWID");
  db.must("INSERT INTO \"a \"\" job\"(k) VALUES('x'), ('''; DROP')");
  const SqliteQueue odd{
      .table = "a \" job", .key_column = "k", .claim_column = "n", .until_column = "u"};
  const auto rows = claim_rows(db, odd, 5, 1min);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(std::get<std::string>(rows[0].key), "'; DROP");
  check_claim_write(db, 1, odd, rows[1]);
  extend_claim(db, odd, rows[1], 1min);
}

TEST_F(SqliteClaimTest, SaysWhatIsWrong) {
  fill(1);
  std::error_code ec;
  claim_rows(db, queue, 0, 1min, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  claim_rows(db, queue, 1, 999us, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  claim_rows(db, queue, 1, Duration::max(), ec);
  EXPECT_EQ(ec, errc::invalid_options);
  claim_rows(db, {.table = "no such table"}, 1, 1min, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  claim_rows(db, {.table = "job", .until_column = "no such column"}, 1, 1min, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  const auto row = claim_rows(db, queue, 1, 1min).at(0);
  EXPECT_EQ(row.claim, 1) << "nothing of the above claimed it";
  check_claim_write(db, 0, queue, row, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  check_claim_write(db, 0, queue, {.key = 99, .claim = 1}, ec);
  EXPECT_EQ(ec, errc::not_found);
  EXPECT_THROW(check_claim_write(db, 0, queue, {.key = 1, .claim = 7}), Error);
}

TEST_F(SqliteClaimTest, ManyWorkersShareTheWork) {
  db.must("PRAGMA journal_mode=WAL");
  constexpr int rows = 300;
  fill(rows);
  std::vector<std::set<std::int64_t>> done(4);
  std::vector<std::thread> threads;
  for (auto& mine : done) {
    threads.emplace_back([this, &mine] {
      Db own{path};
      while (true) {
        const auto claimed = claim_rows(own, queue, 3, 1min);
        if (claimed.empty()) return;
        for (const ClaimedRow& row : claimed) {
          EXPECT_FALSE(finished(own, row));
          mine.insert(std::get<std::int64_t>(row.key));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::int64_t> all;
  std::size_t sum = 0;
  for (const auto& mine : done) {
    all.insert(mine.begin(), mine.end());
    sum += mine.size();
  }
  EXPECT_EQ(all.size(), std::size_t{rows});
  EXPECT_EQ(sum, std::size_t{rows}) << "a row was done twice";
}

// The statements that `holdfast guard sql sqlite` shows mean the same as claim_rows().
TEST_F(SqliteClaimTest, PlainSqlSharesTheWork) {
  SqliteGuard{db}.install();
  fill(3);
  const std::string claim =
      "UPDATE job SET claim = claim + 1, claim_until = (SELECT ms FROM holdfast_now) + 300000 "
      "WHERE id IN (SELECT id FROM job, holdfast_now WHERE claim_until <= ms ORDER BY id LIMIT 1) "
      "RETURNING id";
  EXPECT_EQ(db.one(claim), "1");
  EXPECT_THAT(keys(claim_rows(db, queue, 1, 1min)), ElementsAre(2));
  EXPECT_EQ(db.one(claim), "3");
  EXPECT_EQ(db.one(claim), "");
  EXPECT_TRUE(claim_rows(db, queue, 1, 1min).empty());
}

}  // namespace
}  // namespace holdfast::sqlite_tests

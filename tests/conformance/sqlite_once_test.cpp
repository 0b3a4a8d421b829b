// The once guard on SQLite, in C++ and as plain SQL.
#include "tests/conformance/sqlite_fixture.hpp"
#include "tests/conformance/sqlite_user.hpp"

#include <holdfast/guard/sqlite.hpp>

#include <thread>

namespace holdfast::sqlite_tests {
namespace {

class SqliteOnceTest : public testing::Test {
 protected:
  SqliteOnceTest() {
    db.must("CREATE TABLE payment(id INTEGER PRIMARY KEY, amount INTEGER)");
    SqliteGuard{db}.install();
  }
  TempDir dir{"/dev/shm"};
  std::string path = dir / "app.db";
  Db db{path};
  SqliteOnce once{db};
};

TEST_F(SqliteOnceTest, ARepeatGetsTheFirstResult) {
  db.must("BEGIN IMMEDIATE");
  const OnceAnswer first = once.take("payment 1", Fence{7});
  EXPECT_TRUE(first.first);
  EXPECT_FALSE(first.result);
  const std::string receipt{"receipt\0 1", 10};
  once.keep("payment 1", receipt);
  db.must("COMMIT");

  Db other{path};
  other.must("BEGIN IMMEDIATE");
  const OnceAnswer repeat = SqliteOnce{other}.take("payment 1", Fence{9});
  EXPECT_FALSE(repeat.first);
  EXPECT_EQ(repeat.result, receipt);
  EXPECT_EQ(repeat.fence, Fence{7});
  EXPECT_TRUE(SqliteOnce{other}.take("payment 2").first) << "keys are independent";
  other.must("ROLLBACK");
}

TEST_F(SqliteOnceTest, WithoutAResultARepeatIsStillARepeat) {
  db.must("BEGIN");
  EXPECT_TRUE(once.take("k").first);
  db.must("COMMIT");
  db.must("BEGIN");
  const OnceAnswer repeat = once.take("k");
  EXPECT_FALSE(repeat.first);
  EXPECT_FALSE(repeat.result);
  EXPECT_EQ(repeat.fence, Fence::none);
  db.must("ROLLBACK");
}

TEST_F(SqliteOnceTest, RollbackFreesTheKey) {
  db.must("BEGIN");
  EXPECT_TRUE(once.take("k").first);
  db.must("ROLLBACK");
  db.must("BEGIN");
  EXPECT_TRUE(once.take("k").first);
  db.must("COMMIT");
}

TEST_F(SqliteOnceTest, SaysWhatIsWrong) {
  std::error_code ec;
  once.take("k", Fence{1}, ec);
  EXPECT_EQ(ec, errc::invalid_options) << "no transaction";
  db.must("BEGIN");
  once.take("", Fence{1}, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  once.take("k", Fence{-1}, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  once.keep("k", "result", ec);
  EXPECT_EQ(ec, errc::not_found);
  EXPECT_TRUE(once.take("k").first) << "nothing of the above took it";
  once.keep("k", "result");
  once.keep("k", "another", ec);
  EXPECT_EQ(ec, errc::already_written);
  EXPECT_EQ(once.take("k").result, "result");
  db.must("COMMIT");
  Db bare{dir / "bare.db"};
  bare.must("BEGIN");
  SqliteOnce{bare}.take("k", Fence{1}, ec);
  EXPECT_EQ(ec, errc::not_found);
}

TEST_F(SqliteOnceTest, ForgetsByAge) {
  db.must("BEGIN");
  once.take("old");
  once.take("new");
  db.must("COMMIT");
  db.must("UPDATE holdfast_once SET taken_at = taken_at - 100 WHERE key = 'old'");
  EXPECT_EQ(once.forget(1h), 0);
  EXPECT_EQ(once.forget(50s), 1);
  EXPECT_EQ(db.one("SELECT group_concat(key) FROM holdfast_once"), "new");
  std::error_code ec;
  once.forget(-1s, ec);
  EXPECT_EQ(ec, errc::invalid_options);
}

TEST_F(SqliteOnceTest, OneOfManyDoesIt) {
  constexpr int keys = 40;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this] {
      Db mine{path};
      for (int key = 0; key < keys; ++key) {
        mine.must("BEGIN IMMEDIATE");
        const bool first = SqliteOnce{mine}.take("payment " + std::to_string(key)).first;
        if (first) mine.must("INSERT INTO payment(amount) VALUES(" + std::to_string(key) + ")");
        mine.must("COMMIT");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(db.one("SELECT count(*) || ' ' || count(DISTINCT amount) FROM payment"), "40 40");
}

TEST_F(SqliteOnceTest, PlainSqlSharesItsKeys) {
  db.must("BEGIN IMMEDIATE");
  db.must("INSERT INTO holdfast_take(key, fence) VALUES('k', 5)");
  db.must("INSERT INTO payment(amount) VALUES(1)");
  db.must("UPDATE holdfast_once SET result = 'receipt' WHERE key = 'k'");
  db.must("COMMIT");
  db.must("BEGIN IMMEDIATE");
  db.must("INSERT INTO payment(amount) VALUES(2)");
  EXPECT_EQ(db.run("INSERT INTO holdfast_take(key, fence) VALUES('k', 6)"), SQLITE_CONSTRAINT);
  EXPECT_STREQ(sqlite3_errmsg(db), "holdfast: done before");
  EXPECT_EQ(db.one("SELECT count(*) FROM payment"), "1") << "what came before is undone too";
  db.must("BEGIN IMMEDIATE");
  EXPECT_EQ(once.take("k").result, "receipt");
  db.must("COMMIT");
  for (const char* values : {"(NULL, 1)", "('', 1)", "('x', 0)", "('x', -1)", "('x', 'y')"}) {
    EXPECT_EQ(db.run(std::string("INSERT INTO holdfast_take(key, fence) VALUES") + values),
              SQLITE_CONSTRAINT)
        << values;
  }
  db.must("INSERT INTO holdfast_take(key) VALUES('no fence')");
  EXPECT_EQ(db.one("SELECT abs(ms / 1000 - strftime('%s', 'now')) <= 1 FROM holdfast_now"), "1");
}

}  // namespace
}  // namespace holdfast::sqlite_tests

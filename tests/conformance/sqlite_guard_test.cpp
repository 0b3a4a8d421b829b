#include "tests/conformance/sqlite_fixture.hpp"
#include "tests/conformance/sqlite_user.hpp"

#include <holdfast/guard/sqlite.hpp>

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace holdfast::sqlite_tests {
namespace {

std::error_code admit(Db& db, std::string_view resource, std::string_view name, std::int64_t fence,
                      std::int64_t floor = 0) {
  std::error_code ec = errc::busy;  // must be overwritten
  SqliteGuard{db}.admit(resource, name, Fence{fence}, Fence{floor}, ec);
  return ec;
}

// Admits in a transaction of its own.
std::error_code admitted(Db& db, std::string_view resource, std::int64_t fence,
                         std::int64_t floor = 0) {
  db.must("BEGIN IMMEDIATE");
  const auto ec = admit(db, resource, "payout", fence, floor);
  db.must(ec ? "ROLLBACK" : "COMMIT");
  return ec;
}

class SqliteGuardTest : public testing::Test {
 protected:
  SqliteGuardTest() {
    db.must("CREATE TABLE ledger(id INTEGER PRIMARY KEY, amount INTEGER, fence INTEGER)");
    SqliteGuard{db}.install();
  }
  TempDir dir{"/dev/shm"};
  std::string path = dir / "app.db";
  Db db{path};
};

TEST_F(SqliteGuardTest, RollbackForgetsTheMark) {
  db.must("BEGIN");
  EXPECT_FALSE(admit(db, "r", "payout", 20));
  db.must("ROLLBACK");
  EXPECT_FALSE(admitted(db, "r", 10));
}

TEST_F(SqliteGuardTest, NeedsATransactionAndItsTable) {
  EXPECT_EQ(admit(db, "r", "payout", 1), errc::invalid_options);
  Db bare{dir / "bare.db"};
  bare.must("BEGIN IMMEDIATE");
  EXPECT_EQ(admit(bare, "r", "payout", 1), errc::not_found);
}

TEST_F(SqliteGuardTest, SaysWhoIsInTheWay) {
  EXPECT_FALSE(admitted(db, "ledger", 10));
  db.must("BEGIN");
  try {
    SqliteGuard{db}.admit("ledger", "payout", Fence{9});
    FAIL() << "a stale fence was admitted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::stale_fence);
    EXPECT_EQ(error.detail(), "resource \"ledger\" has seen fence 10, this one is 9");
  }
}

// A snapshot taken before another writer's commit must not decide.
TEST_F(SqliteGuardTest, AnOldSnapshotCannotBeAdmitted) {
  db.must("PRAGMA journal_mode=WAL");
  EXPECT_FALSE(admitted(db, "r", 5));
  Db late{path};
  late.must("BEGIN");
  EXPECT_EQ(late.one("SELECT mark FROM holdfast_guard"), "5");
  EXPECT_FALSE(admitted(db, "r", 7));
  EXPECT_EQ(admit(late, "r", "payout", 6), errc::store_unavailable);
  late.must("ROLLBACK");
  EXPECT_EQ(admitted(late, "r", 6), errc::stale_fence);
}

TEST_F(SqliteGuardTest, RowGuardTellsWhyNothingChanged) {
  db.must("CREATE TABLE \"odd \"\" table\"(\"a key\" TEXT PRIMARY KEY, v, fence INTEGER)");
  db.must("INSERT INTO \"odd \"\" table\" VALUES('k', 0, 10), ('unset', 0, NULL)");
  const SqliteRow row{.table = "odd \" table", .key_column = "a key", .key = "k"};
  const auto outcome = [&](const SqliteRow& which, std::int64_t fence) {
    std::error_code ec;
    check_row_write(db, 0, which, Fence{fence}, ec);
    return ec;
  };
  EXPECT_EQ(outcome(row, 9), errc::stale_fence);
  EXPECT_EQ(outcome(row, 10), errc::already_written);
  EXPECT_EQ(outcome(row, 11), errc::invalid_options) << "the row would have been written";
  EXPECT_EQ(outcome(row, 0), errc::invalid_options);
  SqliteRow other = row;
  other.key = "no such key'; DROP TABLE ledger";
  EXPECT_EQ(outcome(other, 9), errc::not_found);
  other.key = "unset";
  EXPECT_EQ(outcome(other, 9), errc::invalid_options);
  other = row;
  other.fence_column = "no such column";
  EXPECT_EQ(outcome(other, 9), errc::invalid_options);
  check_row_write(db, 1, other, Fence{9});  // something changed: nothing to look at
}

// ---- the plain SQL form -----------------------------------------------------------------------

struct CommandResult {
  int status;
  std::string output;
};

bool has_sqlite3() { return access("/usr/bin/sqlite3", X_OK) == 0; }

CommandResult sqlite3_command(const TempDir& dir, const std::string& path,
                              const std::string& script) {
  std::ofstream(dir / "script.sql") << script;
  const pid_t pid = fork();
  if (pid == 0) {
    if (freopen((dir / "script.sql").c_str(), "r", stdin) != nullptr &&
        freopen((dir / "output").c_str(), "w", stdout) != nullptr &&
        dup2(STDOUT_FILENO, STDERR_FILENO) >= 0) {
      execl("/usr/bin/sqlite3", "sqlite3", "-bail", path.c_str(), static_cast<char*>(nullptr));
    }
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  std::ifstream file(dir / "output");
  return {WEXITSTATUS(status), {std::istreambuf_iterator<char>(file), {}}};
}

std::string admit_script(const std::string& fence) {
  return "BEGIN IMMEDIATE;\n"
         ".parameter set :resource \"'ledger'\"\n"
         ".parameter set :name \"'payout'\"\n"
         ".parameter set :fence " +
         fence +
         "\n"
         "INSERT INTO ledger(amount) VALUES(1);\n"
         "INSERT INTO holdfast_admit(resource, name, fence) VALUES(:resource, :name, :fence);\n"
         "INSERT INTO ledger(amount) VALUES(2);\n"
         "COMMIT;\n";
}

TEST_F(SqliteGuardTest, PlainSqlRefusesAStaleFenceInTheCommandLineTool) {
  if (!has_sqlite3()) {
    const char* required = std::getenv("HOLDFAST_REQUIRE");
    ASSERT_TRUE(required == nullptr || std::string(required).find("sqlite3") == std::string::npos);
    GTEST_SKIP() << "the sqlite3 command is not installed";
  }
  const std::string fresh = dir / "fresh.db";
  auto result = sqlite3_command(dir, fresh, guard_sql_sqlite());
  ASSERT_EQ(result.status, 0) << result.output;
  Db data{fresh};
  data.must("CREATE TABLE ledger(id INTEGER PRIMARY KEY, amount INTEGER)");
  result = sqlite3_command(dir, fresh, admit_script("10"));
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(data.one("SELECT count(*) FROM ledger"), "2");
  for (const auto& [fence, error] :
       {std::pair{"9", "holdfast: stale fence"}, std::pair{"0", "positive integer"},
        std::pair{"-3", "positive integer"}, std::pair{"1.5", "positive integer"},
        std::pair{"NULL", "positive integer"}, std::pair{"\"'11'\"", "positive integer"}}) {
    result = sqlite3_command(dir, fresh, admit_script(fence));
    EXPECT_NE(result.status, 0) << fence;
    EXPECT_NE(result.output.find(error), std::string::npos) << fence << ": " << result.output;
    EXPECT_EQ(data.one("SELECT count(*) FROM ledger"), "2") << "what came before is undone too";
  }
  EXPECT_EQ(admitted(data, "ledger", 9), errc::stale_fence) << "one mark for both forms";
  EXPECT_FALSE(admitted(data, "ledger", 12));
  EXPECT_NE(sqlite3_command(dir, fresh, admit_script("11")).status, 0);
}

TEST_F(SqliteGuardTest, PlainSqlKnowsTheFloorAndTheName) {
  const std::string into = "INSERT INTO holdfast_admit(resource, name, fence, floor) VALUES";
  db.must(into + "('r', 'payout', 12, 10)");
  db.must(into + "('r', 'payout', 11, 10)");
  db.must(into + "('r', 'payout', 13, NULL)");
  EXPECT_EQ(db.run(into + "('r', 'payout', 12, 10)"), SQLITE_CONSTRAINT);
  EXPECT_STREQ(sqlite3_errmsg(db), "holdfast: stale fence");
  EXPECT_EQ(db.run(into + "('r', 'other', 14, NULL)"), SQLITE_CONSTRAINT);
  EXPECT_STREQ(sqlite3_errmsg(db), "holdfast: another lock guards this resource");
  EXPECT_EQ(db.run(into + "('r', 'payout', 14, 15)"), SQLITE_CONSTRAINT);
  EXPECT_EQ(db.run(into + "(NULL, 'payout', 14, NULL)"), SQLITE_CONSTRAINT);
  EXPECT_EQ(db.run(into + "('r', '', 14, NULL)"), SQLITE_CONSTRAINT);
}

}  // namespace
}  // namespace holdfast::sqlite_tests

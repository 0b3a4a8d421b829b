#include "tests/conformance/sqlite_fixture.hpp"
#include "tests/conformance/sqlite_user.hpp"

#include <holdfast/guard/sqlite.hpp>

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <limits>
#include <random>
#include <thread>

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

using C39SqliteGuard = SqliteGuardTest;

TEST_F(SqliteGuardTest, RefusesWhatIsBelowTheMark) {
  EXPECT_FALSE(admitted(db, "ledger", 10));
  EXPECT_FALSE(admitted(db, "ledger", 10)) << "one holder may write often";
  EXPECT_FALSE(admitted(db, "ledger", 11));
  EXPECT_EQ(admitted(db, "ledger", 10), errc::stale_fence);
  EXPECT_FALSE(admitted(db, "other", 1)) << "resources are independent";
}

TEST_F(SqliteGuardTest, FloorLetsLiveFencesPassOneAnother) {
  EXPECT_FALSE(admitted(db, "r", 12, 10));
  EXPECT_FALSE(admitted(db, "r", 11, 10));
  EXPECT_EQ(admitted(db, "r", 9, 9), errc::stale_fence);
  EXPECT_FALSE(admitted(db, "r", 13));
  EXPECT_EQ(admitted(db, "r", 12, 10), errc::stale_fence);
}

TEST_F(SqliteGuardTest, RollbackForgetsTheMark) {
  db.must("BEGIN");
  EXPECT_FALSE(admit(db, "r", "payout", 20));
  db.must("ROLLBACK");
  EXPECT_FALSE(admitted(db, "r", 10));
}

TEST_F(SqliteGuardTest, ComparesAllSixtyFourBits) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(admitted(db, "r", most - 1));
  EXPECT_EQ(admitted(db, "r", most - 2), errc::stale_fence);
  EXPECT_FALSE(admitted(db, "r", most));
  EXPECT_EQ(admitted(db, "r", (std::int64_t{1} << 53) + 1), errc::stale_fence);
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

// ---- C39: stale writer after a pause ----------------------------------------------------------

TEST_F(C39SqliteGuard, ABatchIsAllOrNothing) {
  EXPECT_FALSE(admitted(db, "ledger", 2));
  db.must("BEGIN IMMEDIATE");
  db.must("INSERT INTO ledger(amount, fence) VALUES(1, 1), (2, 1)");
  EXPECT_EQ(admit(db, "ledger", "payout", 1), errc::stale_fence);
  db.must("ROLLBACK");
  EXPECT_EQ(db.one("SELECT count(*) FROM ledger"), "0");
}

TEST_F(C39SqliteGuard, TheMarkSurvivesARestart) {
  {
    Db first{path};
    EXPECT_FALSE(admitted(first, "ledger", 7));
  }
  Db again{path};
  SqliteGuard{again}.install();  // a second time changes nothing
  EXPECT_EQ(admitted(again, "ledger", 6), errc::stale_fence);
}

TEST_F(C39SqliteGuard, RefusesWhatIsNoFenceOfThisLock) {
  db.must("BEGIN IMMEDIATE");
  for (const std::int64_t fence :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(admit(db, "r", "payout", fence), errc::invalid_options) << fence;
  }
  EXPECT_EQ(admit(db, "r", "", 1), errc::invalid_options);
  EXPECT_EQ(admit(db, "r", "payout", 5, 6), errc::invalid_options);
  EXPECT_EQ(db.one("SELECT count(*) FROM holdfast_guard"), "0");
  EXPECT_FALSE(admit(db, "r", "payout", 5));
  EXPECT_EQ(admit(db, "r", "another lock", 6), errc::invalid_options);
  db.must("COMMIT");
}

// The paused writer: writes under each fence that it reads from `fences` until it is refused.
[[noreturn]] void write_until_stale(const std::string& path, int fences, int answers) {
  Db db{path};
  std::int64_t fence = 0;
  while (read(fences, &fence, sizeof fence) == sizeof fence) {
    std::error_code ec;
    while (!ec) {
      db.must("BEGIN IMMEDIATE");
      ec = admit(db, "ledger", "payout", fence);
      if (!ec) db.must("INSERT INTO ledger(fence) VALUES(" + std::to_string(fence) + ")");
      db.must(ec ? "ROLLBACK" : "COMMIT");
      std::this_thread::sleep_for(50us);  // or the other side would hardly ever get its turn
    }
    const char answer = ec == errc::stale_fence ? 's' : '?';
    if (write(answers, &answer, 1) != 1) break;
  }
  _exit(0);
}

void stop(pid_t pid) {
  kill(pid, SIGSTOP);
  int status = 0;
  waitpid(pid, &status, WUNTRACED);
}

TEST_F(C39SqliteGuard, NoStaleWriteLandsWhereverTheWriterIsStopped) {
  const char* full = std::getenv("HOLDFAST_SOAK");
  // The short form takes what fits in two seconds of a busy machine.
  const int rounds_max = full != nullptr ? 20'000 : 400;
  const Instant enough = BootClock::now() + (full != nullptr ? 1h : 2s);
  const std::string shared = dir / "shared.db";
  {
    Db setup{shared};
    setup.must("CREATE TABLE ledger(id INTEGER PRIMARY KEY, amount INTEGER, fence INTEGER)");
    setup.must("PRAGMA journal_mode=WAL");
    SqliteGuard{setup}.install();
  }  // no connection may be open across a fork
  int fences[2];
  int answers[2];
  ASSERT_EQ(pipe(fences), 0);
  ASSERT_EQ(pipe(answers), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    close(fences[1]);
    write_until_stale(shared, fences[0], answers[1]);
  }
  Db data{shared};
  data.must("PRAGMA busy_timeout=0");
  close(fences[0]);
  close(answers[1]);
  std::mt19937 random{1};
  std::int64_t round = 0;
  int inside = 0;
  for (; round < rounds_max && BootClock::now() < enough; ++round) {
    const std::int64_t old_fence = 2 * round + 1;
    ASSERT_EQ(write(fences[1], &old_fence, sizeof old_fence), ssize_t{sizeof old_fence});
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 400});
    stop(writer);
    // Stopped in the middle of a transaction it keeps us out: let it go on and stop it again.
    while (data.run("BEGIN IMMEDIATE") != SQLITE_OK) {
      ++inside;
      kill(writer, SIGCONT);
      std::this_thread::sleep_for(std::chrono::microseconds{random() % 100});
      stop(writer);
    }
    ASSERT_FALSE(admit(data, "ledger", "payout", old_fence + 1));
    data.must("INSERT INTO ledger(fence) VALUES(" + std::to_string(old_fence + 1) + ")");
    data.must("COMMIT");
    kill(writer, SIGCONT);
    char answer = 0;
    ASSERT_EQ(read(answers[0], &answer, 1), 1);
    ASSERT_EQ(answer, 's') << "the writer was stopped by something else";
  }
  close(fences[1]);
  close(answers[0]);
  waitpid(writer, nullptr, 0);
  EXPECT_EQ(data.one("SELECT count(*) FROM ledger AS late WHERE EXISTS(SELECT 1 FROM ledger AS "
                     "earlier WHERE earlier.id = late.id - 1 AND earlier.fence > late.fence)"),
            "0");
  EXPECT_EQ(data.one("SELECT count(*) FROM ledger WHERE fence % 2 = 0"), std::to_string(round));
  std::cout << round << " pauses, and " << inside << " inside a transaction\n";
  EXPECT_GT(round, 10);
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

// Fences of successive grants of a name strictly rise: across releases, breaks, restarts of the
// server with and without what it had on disk, and after everything was deleted.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/command_test.hpp"

#include <functional>

namespace holdfast::test {
namespace {

class Fences : public CommandTest {
 protected:
  // The fence that the next run is given. 0: it did not run.
  std::int64_t next() {
    Process child{run_script({"-q", "--wait", "10s"}, "echo $HOLDFAST_FENCE")};
    EXPECT_EQ(child.wait(), 0) << child.err();
    return std::atoll(child.out().c_str());
  }
  void expect_rise(const std::string& after) {
    const std::int64_t fence = next();
    EXPECT_GT(fence, last_) << "after " << after;
    last_ = fence;
  }
  std::int64_t last_ = 0;
};

TEST_P(Fences, RiseFromRunToRun) {
  for (int i = 0; i < 20; ++i) {
    expect_rise("a release");
  }
}

TEST_P(Fences, RiseAfterABreak) {
  for (const bool now : {false, true}) {
    Process holder{
        run_script({"-q", "--ttl", "2s"}, "echo $HOLDFAST_FENCE > fence; exec sleep 30")};
    ASSERT_TRUE(eventually([&] { return content("fence").ends_with("\n"); })) << holder.err();
    const std::int64_t fence = std::atoll(content("fence").c_str());
    EXPECT_GT(fence, last_);
    last_ = fence;
    Process breaker{command(now ? std::vector<std::string>{"break", "n", "--now"}
                                : std::vector<std::string>{"break", "n"})};
    EXPECT_EQ(breaker.wait(), 0) << breaker.err();
    expect_rise(now ? "break --now" : "break");
    EXPECT_EQ(holder.wait(), 76) << holder.err();
    std::filesystem::remove(file("fence"));
  }
}

TEST_P(Fences, RiseAfterTheHolderIsKilled) {
  Process holder{run_script({"-q", "--ttl", "1s"}, "echo $HOLDFAST_FENCE > fence; exec sleep 30")};
  ASSERT_TRUE(eventually([&] { return content("fence").ends_with("\n"); })) << holder.err();
  last_ = std::atoll(content("fence").c_str());
  holder.signal(SIGKILL);
  expect_rise("kill -9");
}

INSTANTIATE_TEST_SUITE_P(Stores, Fences, command_stores, store_name);

class FencesOnRedis : public Fences {};

TEST_P(FencesOnRedis, RiseAfterARestartAndAfterFlushall) {
  expect_rise("the start");
  for (int i = 0; i < 3; ++i) {
    redis().restart();  // nothing is on its disk
    expect_rise("a restart");
    redis().command({"FLUSHALL"});
    expect_rise("FLUSHALL");
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, FencesOnRedis, ::testing::Values("redis"), store_name);

class FencesOnSqlite : public Fences {};

// Each run is a new process already; here the file loses its log as in a clean shutdown, and its
// row as after a clean-up.
TEST_P(FencesOnSqlite, RiseAfterTheFileWasTidied) {
  expect_rise("the start");
  run_tool({"sqlite3", file("locks.db"), "PRAGMA wal_checkpoint(TRUNCATE); VACUUM;"});
  expect_rise("a VACUUM");
  run_tool({"sqlite3", file("locks.db"), "DELETE FROM lease;"});
  expect_rise("losing the row");
}

INSTANTIATE_TEST_SUITE_P(Stores, FencesOnSqlite, ::testing::Values("sqlite"), store_name);

}  // namespace
}  // namespace holdfast::test

// What a store may do to its clients, one story a test: here are the promises that no client can
// keep for a store, and what is left of them.
#include "tests/sim/stage.hpp"

namespace holdfast::sim {
namespace {

constexpr const char* overlaps = "overlaps after the store forgot a lease";

// The grant had not reached the replica when it took over.
TEST(DirectedStore, AFailoverThatLosesAGrantIsNoticedAndFenced) {
  Options options;
  options.server.replication_lag = 1s;
  Stage stage{3, options};
  stage.run_for(1500ms);
  const LeasePtr first = stage.acquire(0, {.name = "n", .options = {.ttl = 9s}});
  stage.store().fail_over(500ms, -20ms);
  const Stage::WaitPtr next = stage.start(1, {.name = "n", .options = {.ttl = 9s}});
  stage.finish(next);
  ASSERT_TRUE(next->granted());
  EXPECT_GT(next->lease->fence, first->fence);
  stage.locker(1).write(next->lease);
  stage.run_for(10ms);
  if (Stage::held(first)) {
    stage.locker(0).write(first);
  }
  // The connection broke, so the holder verifies its lease as soon as there is a new one.
  stage.run_for(1s);
  EXPECT_TRUE(Stage::lost(first));
  stage.expect_clean();
}

TEST(DirectedStore, AFailoverThatLosesNothingCostsNobodyHisLease) {
  Options options;
  options.server.replication_lag = 10ms;
  Stage stage{3, options};
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 9s}});
  stage.run_for(100ms);
  stage.store().fail_over(500ms, 0ms);
  const Stage::WaitPtr next = stage.start(1, {.name = "n"});
  stage.run_for(1min);
  EXPECT_TRUE(Stage::held(lease));
  EXPECT_TRUE(next->waiting());
  stage.expect_clean();
}

TEST(DirectedStore, FencesRiseAcrossARestartWithoutMemory) {
  Stage stage;
  const LeasePtr first = stage.acquire(0, {.name = "n"});
  stage.store().restart(false, 10ms);
  const LeasePtr second = stage.acquire(1, {.name = "n"});
  EXPECT_GT(second->fence, first->fence);
  stage.run_for(5s);
  EXPECT_EQ(first->why.load(), errc::taken);
  stage.expect_clean();
}

TEST(DirectedStore, ARestartWithMemoryCostsNobodyHisLease) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 9s}});
  const Stage::WaitPtr next = stage.start(1, {.name = "n"});
  stage.run_for(5s);
  stage.store().restart(true, 2s);
  stage.run_for(20s);
  EXPECT_TRUE(Stage::held(lease));
  stage.locker(0).release(lease);
  stage.finish(next);
  EXPECT_TRUE(next->granted());
  stage.expect_clean();
}

// Redis and PostgreSQL expire by their own wall clock.
TEST(DirectedStore, AClockThatJumpsAheadLetsTwoInAndTheGuardDecides) {
  Stage stage;
  const LeasePtr first = stage.acquire(0, {.name = "n", .options = {.ttl = 30s}});
  stage.run_for(1s);
  stage.store().jump_clock(1h);
  const LeasePtr second = stage.acquire(1, {.name = "n", .options = {.ttl = 30s}});
  EXPECT_TRUE(stage.locker(0).valid(first));
  EXPECT_EQ(stage.count(overlaps), 1U);
  stage.locker(1).write(second);
  stage.run_for(100ms);
  stage.locker(0).write(first);
  stage.run_for(100ms);
  EXPECT_EQ(stage.count(landed), 1U);
  EXPECT_EQ(stage.count(refused), 1U);
  EXPECT_EQ(first->why.load(), errc::stale_fence);
  stage.expect_clean();
}

TEST(DirectedStore, AClockThatIsSetBackDelaysAndLowersNoFence) {
  Stage stage;
  const LeasePtr first = stage.acquire(0, {.name = "n", .options = {.ttl = 5s}});
  stage.store().jump_clock(-1min);
  stage.locker(0).release(first);
  const LeasePtr second = stage.acquire(1, {.name = "n", .options = {.ttl = 5s}});
  EXPECT_GT(second->fence, first->fence);
  stage.node(1).crash();
  const Duration crashed_at = stage.now();
  stage.acquire(2, {.name = "n"});
  EXPECT_LE(stage.now() - crashed_at, 5500ms);
  stage.expect_clean();
}

TEST(DirectedStore, ABreakIsToldToTheHolderAndTheNameFreesWithItsAnswer) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n"});
  const Stage::WaitPtr next = stage.start(1, {.name = "n"});
  stage.run_for(1s);
  stage.store().operator_breaks("n", BreakMode::ask_holder);
  stage.run_for(100ms);
  EXPECT_EQ(lease->why.load(), errc::broken);
  EXPECT_TRUE(next->waiting());
  stage.locker(0).release(lease);
  stage.run_for(100ms);
  EXPECT_TRUE(next->granted());
  stage.expect_clean();
}

TEST(DirectedStore, ABreakNowMayOverlapAndSaysSo) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n"});
  const Stage::WaitPtr next = stage.start(1, {.name = "n"});
  stage.run_for(1s);
  stage.node(0).pause();
  stage.store().operator_breaks("n", BreakMode::now);
  stage.run_for(100ms);
  EXPECT_TRUE(next->granted());
  EXPECT_EQ(stage.count(overlaps), 1U);
  stage.node(0).resume();
  stage.run_for(100ms);
  EXPECT_TRUE(Stage::lost(lease));
  stage.expect_clean();
}

}  // namespace
}  // namespace holdfast::sim

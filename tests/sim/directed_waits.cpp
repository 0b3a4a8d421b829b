// What becomes of a wait, one story a test.
#include "tests/sim/stage.hpp"

#include <vector>

namespace holdfast::sim {
namespace {

TEST(DirectedWait, IsServedInTheOrderOfAsking) {
  Stage stage{5};
  const LeasePtr holder = stage.acquire(0, {.name = "n"});
  std::vector<Stage::WaitPtr> waits;
  for (NodeId id = 1; id < 5; ++id) {
    waits.push_back(stage.start(id, {.name = "n", .lane_first = id % 2 == 0}));
    stage.run_for(100ms);
  }
  stage.locker(0).release(holder);
  for (NodeId id = 1; id < 5; ++id) {
    stage.run_for(10ms);
    ASSERT_TRUE(waits[id - 1]->granted()) << id;
    for (NodeId later = id + 1; later < 5; ++later) {
      EXPECT_TRUE(waits[later - 1]->waiting());
    }
    stage.locker(id).release(waits[id - 1]->lease);
  }
  stage.expect_clean();
}

TEST(DirectedWait, OneThatDoesNotWaitDoesNotOvertake) {
  Stage stage;
  const LeasePtr first = stage.acquire(0, {.name = "n", .options = {.ttl = 5s, .renew = false}});
  const Stage::WaitPtr waiter = stage.start(1, {.name = "n"});
  stage.run_for(4900ms);
  stage.node(1).pause();  // alive for the store, but it will not look when the lease ends
  stage.run_for(400ms);
  ASSERT_TRUE(Stage::lost(first));
  const auto passer = stage.finish(stage.start(2, {.name = "n", .timeout = 0s}));
  EXPECT_EQ(*passer->code, make_error_code(errc::busy));
  stage.node(1).resume();
  stage.finish(waiter);
  EXPECT_TRUE(waiter->granted());
  stage.expect_clean();
}

TEST(DirectedWait, ACrashedWaiterHoldsUpNobodyForLongerThanItsLiveness) {
  Stage stage;
  const LeasePtr holder = stage.acquire(0, {.name = "n"});
  stage.start(1, {.name = "n"});
  stage.run_for(100ms);
  const Stage::WaitPtr second = stage.start(2, {.name = "n"});
  stage.run_for(100ms);
  stage.node(1).crash();
  stage.locker(0).release(holder);
  const Duration released_at = stage.now();
  stage.finish(second);
  EXPECT_LE(stage.now() - released_at, 5200ms);
  stage.expect_clean();
}

TEST(DirectedWait, ALostWakeUpCostsTwoSecondsAtMost) {
  Options options;
  options.server.wake_lost_per_mille = 1000;
  Stage stage{2, options};
  const LeasePtr holder = stage.acquire(0, {.name = "n"});
  const Stage::WaitPtr waiter = stage.start(1, {.name = "n"});
  stage.run_for(1234ms);
  stage.locker(0).release(holder);
  stage.run_for(2100ms);
  EXPECT_TRUE(waiter->granted());
  stage.expect_clean();
}

// The name was handed to a waiter who stood still; the hand-off ended, another got it, the waiter
// beats again; only then, in most of these worlds, does the news of the first hand-off arrive.
TEST(DirectedWait, LateNewsOfAHandOffIsNotBelieved) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Options options;
    options.seed = seed;
    options.server.wake_late_per_mille = 1000;
    Stage stage{3, options};
    const LeasePtr holder = stage.acquire(0, {.name = "n"});
    const Stage::WaitPtr waiter = stage.start(1, {.name = "n", .options = {.ttl = 3s}});
    stage.run_for(1s);
    stage.node(1).pause();
    stage.locker(0).release(holder);
    const LeasePtr second = stage.acquire(2, {.name = "n"});
    stage.node(1).resume();
    stage.run_for(10s);
    EXPECT_TRUE(waiter->waiting()) << seed;
    EXPECT_TRUE(Stage::held(second)) << seed;
    stage.expect_clean();
  }
}

// A frozen server executes what waited in its sockets, even after the client gave up and closed.
TEST(DirectedWait, AnAcquireThatIsExecutedLateIsWithdrawn) {
  Stage stage;
  stage.acquire(1, {.name = "warm"});
  stage.acquire(0, {.name = "warm too"});
  stage.freeze(true);
  const auto wait = stage.finish(stage.start(0, {.name = "n", .timeout = 1s}));
  EXPECT_EQ(*wait->code, make_error_code(errc::outcome_unknown));
  stage.run_for(5s);
  stage.freeze(false);
  stage.run_for(1s);
  const auto other = stage.finish(stage.start(1, {.name = "n", .timeout = 0s}));
  EXPECT_TRUE(other->granted());
  stage.expect_clean();
}

TEST(DirectedWait, IsAnsweredByItsDeadlineWhateverTheStoreDoes) {
  Stage stage;
  stage.cut(0, true);
  const Duration began = stage.now();
  const auto wait = stage.start(0, {.name = "n", .timeout = 700ms});
  while (wait->waiting()) {
    stage.run_for(1ms);
  }
  EXPECT_LE(stage.now() - began, 702ms);
  EXPECT_TRUE(*wait->code == failure::transient) << wait->code->message();
  stage.cut(0, false);
  stage.run_for(10s);
  stage.expect_clean();
}

TEST(DirectedWait, ACancelledWaiterLeavesTheQueue) {
  Stage stage;
  const LeasePtr holder = stage.acquire(0, {.name = "n"});
  const Stage::WaitPtr first = stage.start(1, {.name = "n"});
  stage.run_for(100ms);
  const Stage::WaitPtr second = stage.start(2, {.name = "n"});
  stage.run_for(100ms);
  stage.locker(1).cancel(first->attempt);
  stage.run_for(10ms);
  EXPECT_EQ(*first->code, make_error_code(errc::cancelled));
  stage.locker(0).release(holder);
  stage.run_for(10ms);
  EXPECT_TRUE(second->granted());
  stage.expect_clean();
}

// Release and deadline at one instant: whoever reports failure holds nothing.
TEST(DirectedWait, AGrantThatMeetsTheDeadlineIsEitherHeldOrGivenBack) {
  for (int step = -20; step <= 20; ++step) {
    Stage stage;
    const LeasePtr holder = stage.acquire(0, {.name = "n", .options = {.ttl = 60s}});
    const Duration timeout = 1s + step * 200us;
    const Stage::WaitPtr wait =
        stage.start(1, {.name = "n", .options = {.ttl = 60s}, .timeout = timeout});
    stage.run_for(1s);
    stage.locker(0).release(holder);
    stage.run_for(500ms);
    ASSERT_FALSE(wait->waiting());
    const auto third = stage.finish(stage.start(2, {.name = "n", .timeout = 0s}));
    EXPECT_NE(wait->granted(), third->granted()) << step;
    stage.expect_clean();
  }
}

}  // namespace
}  // namespace holdfast::sim

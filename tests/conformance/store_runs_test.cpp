// Runs that happen once: the release marks the run done, and nobody is granted it again.
#include "tests/conformance/store_test.hpp"

namespace holdfast::conformance {
namespace {

using Owners = std::vector<OwnerId>;

constexpr WithdrawOptions failed_run{.keep_min_hold = true, .tombstone = false};

WithdrawOptions done_for(Duration remember) {
  return {.keep_min_hold = true, .tombstone = false, .remember = remember};
}

class StoreRuns : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    HOLDFAST_STORE_KNOWS(runs);
  }
  Claim run(const std::string& id = "monday", Duration ttl = 30s) {
    Claim made = claim("job", ttl);
    made.run_id = id;
    return made;
  }
};
HOLDFAST_ON_EVERY_STORE(StoreRuns);

TEST_P(StoreRuns, TheReleaseMarksTheRunDone) {
  const Claim a = run();
  store().grant(a);
  store().busy(run());
  store().release(a, done_for(1h));
  store().expect_done(run());
  second().expect_done(run(), Store::Queueing::yes);
  store().expect_done(a);
  EXPECT_FALSE(holder("job"));
  EXPECT_TRUE(waiters("job").empty());
}

TEST_P(StoreRuns, OtherRunsAndNamesAreOpen) {
  const Claim a = run();
  store().grant(a);
  store().release(a, done_for(1h));
  const Claim b = run("tuesday");
  store().grant(b);
  store().release(b);
  const Claim c = claim();
  store().grant(c);
  Claim elsewhere_too = run();
  elsewhere_too.name = "another job";
  store().grant(elsewhere_too);
  store().expect_done(run());
  store().expect_done(run(), Store::Queueing::yes);
  EXPECT_EQ(holder("job")->owner, c.owner);
}

TEST_P(StoreRuns, AFailedRunIsNotDone) {
  const Claim a = run();
  store().grant(a);
  store().release(a, failed_run);
  store().grant(run());
}

TEST_P(StoreRuns, WaitersForItAreToldToLook) {
  const Claim a = run();
  const Claim b = run();
  const Claim c = run();
  store().grant(a);
  store().queue(b);
  store().queue(c);
  store().release(a, done_for(1h));
  EXPECT_TRUE(store().await_hint(b.owner));
  EXPECT_TRUE(store().await_hint(c.owner));
  EXPECT_TRUE(waiters("job").empty());
  EXPECT_FALSE(holder("job"));
  store().expect_done(b, Store::Queueing::yes);
  EXPECT_FALSE(store().has_heard_hand_off(b.owner));
}

TEST_P(StoreRuns, WaitersForAnotherAreServed) {
  const Claim a = run();
  const Claim b = run();
  const Claim c = run("tuesday");
  store().grant(a);
  store().queue(b);
  store().queue(c);
  store().release(a, done_for(1h));
  store().await_hand_off(c.owner);
  EXPECT_TRUE(waiters("job").empty());
  store().release(c, done_for(1h));
  store().expect_done(run("tuesday"));
  store().expect_done(run("monday"));
}

TEST_P(StoreRuns, ARunThatFailedGoesToTheNext) {
  const Claim a = run();
  const Claim b = run();
  store().grant(a);
  store().queue(b);
  store().release(a, failed_run);
  store().await_hand_off(b.owner);
  store().release(b, done_for(1h));
  store().expect_done(run());
}

TEST_P(StoreRuns, AWaiterOfADoneRunLeavesTheQueueByAsking) {
  HOLDFAST_STORE_KNOWS(permits);
  Claim a = permit(2);
  Claim b = permit(2, 2);
  a.run_id = b.run_id = "monday";
  const Claim other = permit(2);
  store().grant(a);
  store().grant(other);
  store().queue(b);
  const Claim c = permit(2);
  store().queue(c);
  store().release(a, done_for(1h));
  store().await_hand_off(c.owner);
  store().expect_done(b, Store::Queueing::yes);
  EXPECT_TRUE(waiters("pool").empty());
}

TEST_P(StoreRuns, AreForgottenInTheEnd) {
  const Claim a = run();
  store().grant(a);
  const Instant done = now();
  store().release(a, done_for(300ms));
  store().expect_done(run());
  EXPECT_GE(until_granted(run()) + grain, done + 300ms);
}

TEST_P(StoreRuns, ARepeatedWithdrawSaysReleased) {
  const Claim a = run();
  store().grant(a);
  store().release(a, done_for(1h));
  store().release(a, done_for(1h));
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(run(), done_for(1h))));
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a)));
}

TEST_P(StoreRuns, ALostHolderMarksNothing) {
  const Claim a = run("monday", 150ms);
  store().grant(a);
  pass(250ms);
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a, done_for(1h))));
  const Claim b = run();
  store().grant(b);
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a, done_for(1h))));
  EXPECT_EQ(holder("job")->owner, b.owner);
}

TEST_P(StoreRuns, AWaiterMarksNothing) {
  const Claim a = run();
  const Claim b = run();
  store().grant(a);
  store().queue(b);
  store().release(b, done_for(1h));
  store().release(a, failed_run);
  store().grant(run());
}

TEST_P(StoreRuns, ABrokenHolderMayFinish) {
  const Claim a = run();
  store().grant(a);
  store().break_name("job");
  store().release(a, done_for(1h));
  store().expect_done(run());
}

TEST_P(StoreRuns, OneThatWasBrokenByForceMayNot) {
  const Claim a = run();
  store().grant(a);
  store().break_name("job", BreakMode::now);
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a, done_for(1h))));
  store().grant(run());
}

TEST_P(StoreRuns, MinHoldHoldsTheNameBesideTheMark) {
  Claim a = run();
  a.min_hold = 400ms;
  const Instant asked = now();
  store().grant(a);
  store().release(a, done_for(1h));
  store().expect_done(run());
  EXPECT_TRUE(store().busy(run("tuesday")).holder->released);
  EXPECT_GE(until_granted(run("tuesday")) + grain, asked + 400ms);
}

TEST_P(StoreRuns, AMarkThatStandsIsNotReplaced) {
  HOLDFAST_STORE_KNOWS(permits);
  Claim a = permit(2);
  Claim b = permit(2);
  a.run_id = b.run_id = "monday";
  store().grant(a);
  const Fence fence = store().grant(b).fence;
  const Instant done = now();
  store().release(a, done_for(400ms));
  EXPECT_EQ(store().grant(b).fence, fence) << "who is in stays in";
  store().release(b, done_for(1h));
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(b, done_for(1h))));
  store().release(a, done_for(1h));
  Claim c = permit(2);
  c.run_id = "monday";
  store().expect_done(c);
  EXPECT_GE(until_granted(c) + grain, done + 400ms);
}

TEST_P(StoreRuns, IdsMayBeAnyText) {
  const std::string odd{"a\nb\x1f\0c\xff{%s}'\"", 14};
  const Claim a = run(odd);
  store().grant(a);
  store().release(a, done_for(1h));
  store().expect_done(run(odd));
  store().grant(run(odd.substr(0, 5)));
}

TEST_P(StoreRuns, MarksOutliveTheLastStore) {
  const Claim a = run();
  store().grant(a);
  store().release(a, done_for(1h));
  store().close();
  if (!place().reopen()) {
    GTEST_SKIP() << "this place ends with its last store";
  }
  Speaker again{place().lane(), place().open(), Speaker::Listening::yes};
  again.expect_done(run());
}

}  // namespace
}  // namespace holdfast::conformance

// What becomes of a lease, one story a test.
#include "tests/sim/stage.hpp"

namespace holdfast::sim {
namespace {

TEST(DirectedLease, IsRenewedForAsLongAsItIsHeld) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 3s}});
  const Stage::WaitPtr other = stage.start(1, {.name = "n"});
  stage.run_for(1h);
  EXPECT_TRUE(Stage::held(lease));
  EXPECT_TRUE(other->waiting());
  stage.locker(0).release(lease);
  stage.run_for(100ms);
  EXPECT_TRUE(other->granted());
  EXPECT_GT(other->lease->fence, lease->fence);
  stage.expect_clean();
}

// The reason why guards exist: between looking at the lease and writing, a process may stand still.
TEST(DirectedLease, APausedHoldersWriteLandsWithoutAGuardAndIsRefusedWithOne) {
  Stage stage;
  const LeasePtr first = stage.acquire(0, {.name = "n", .options = {.ttl = 3s}});
  ASSERT_TRUE(stage.locker(0).valid(first));
  stage.node(0).pause();
  const LeasePtr second = stage.acquire(1, {.name = "n", .options = {.ttl = 3s}});
  stage.locker(1).write(second);
  stage.run_for(1s);
  stage.locker(0).write(first);  // it had looked before the pause
  stage.run_for(1s);
  EXPECT_EQ(stage.count(landed), 1U);
  EXPECT_EQ(stage.count(refused), 1U);
  stage.node(0).resume();
  stage.run_for(1s);
  EXPECT_TRUE(Stage::lost(first));  // as expired or as stale, whichever it hears of first
  stage.expect_clean();
}

TEST(DirectedLease, AHolderThatIsCutOffEndsBeforeTheNextBegins) {
  Stage stage;
  const LeasePtr first = stage.acquire(0, {.name = "n", .options = {.ttl = 6s}});
  const Stage::WaitPtr next = stage.start(1, {.name = "n"});
  stage.run_for(10s);
  stage.cut(0, true);
  while (Stage::held(first)) {
    EXPECT_TRUE(next->waiting());
    stage.run_for(1ms);
  }
  const Duration lost_at = stage.now();
  stage.finish(next);
  EXPECT_TRUE(next->granted());
  EXPECT_GT(stage.now(), lost_at);
  EXPECT_EQ(first->why.load(), errc::expired);
  stage.expect_clean();
}

TEST(DirectedLease, AHiccupShorterThanTheLeaseCostsNothing) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 10s}});
  for (int times = 0; times < 20; ++times) {
    stage.run_for(5s);
    stage.cut(0, true);
    stage.run_for(2s);
    stage.cut(0, false);
    stage.run_for(5s);
    ASSERT_TRUE(Stage::held(lease)) << times;
  }
  stage.expect_clean();
}

// A doubt (the connection was made again) is looked into, but must not make the lease longer.
TEST(DirectedLease, FixedIsNotMadeLongerByADoubt) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 10s, .renew = false}});
  const Duration granted_at = stage.now();
  stage.run_for(6s);
  stage.store().restart(true, 200ms);
  stage.run_for(1s);
  EXPECT_TRUE(Stage::held(lease));
  while (Stage::held(lease)) {
    stage.run_for(10ms);
  }
  EXPECT_LE(stage.now() - granted_at, 10s);
  EXPECT_EQ(lease->why.load(), errc::expired);
  stage.expect_clean();
}

TEST(DirectedLease, MaxHoldIsTheReasonThatIsGiven) {
  for (const std::int64_t drift : {-400, 0, 400}) {
    Stage stage;
    stage.node(0).change_clock(drift, 0s);
    const LeasePtr lease =
        stage.acquire(0, {.name = "n", .options = {.ttl = 5s, .max_hold = 17s, .lock_delay = 1s}});
    stage.run_for(30s);
    EXPECT_EQ(lease->why.load(), errc::max_hold) << drift;
    stage.expect_clean();
  }
}

TEST(DirectedLease, MinHoldKeepsOthersOutAfterARelease) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 5s, .min_hold = 4s}});
  const Duration granted_at = stage.now();
  stage.locker(0).release(lease);
  stage.acquire(1, {.name = "n"});
  EXPECT_GE(stage.now() - granted_at, 3900ms);
  EXPECT_LE(stage.now() - granted_at, 4300ms);
  stage.expect_clean();
}

// A hypervisor that stops the machine and sets its clock right afterwards.
TEST(DirectedLease, AClockThatJumpsAheadEndsTrustAtOnce) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 10s}});
  stage.trouble(0, true, "clock");
  stage.node(0).change_clock(0, 1h);
  EXPECT_FALSE(stage.locker(0).valid(lease));
  stage.run_for(10ms);
  EXPECT_TRUE(Stage::lost(lease));
  stage.trouble(0, false, "clock");
  stage.expect_clean();
}

TEST(DirectedLease, AnAbandonedLeaseLastsForItsTtl) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 5s}});
  const Duration granted_at = stage.now();
  stage.locker(0).abandon(lease);
  stage.acquire(1, {.name = "n"});
  EXPECT_GE(stage.now() - granted_at, 4900ms);
  EXPECT_LE(stage.now() - granted_at, 5300ms);
  stage.expect_clean();
}

TEST(DirectedLease, AProcessThatShutsDownLeavesNothingBehind) {
  Stage stage;
  stage.acquire(0, {.name = "held", .options = {.ttl = 60s}});
  const LeasePtr other = stage.acquire(1, {.name = "waited for", .options = {.ttl = 60s}});
  stage.start(0, {.name = "waited for"});
  const Stage::WaitPtr behind = stage.start(2, {.name = "waited for"});
  stage.run_for(1s);
  stage.node(0).shut_down();
  stage.run_for(10ms);
  EXPECT_FALSE(stage.node(0).up());
  EXPECT_TRUE(stage.finish(stage.start(2, {.name = "held", .timeout = 0s}))->granted());
  stage.locker(1).release(other);
  stage.run_for(10ms);
  EXPECT_TRUE(behind->granted());
  stage.expect_clean();
}

}  // namespace
}  // namespace holdfast::sim

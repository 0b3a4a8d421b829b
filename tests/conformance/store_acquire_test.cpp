// acquire(): idempotent, exclusive, ended by time on the store's clock.
#include "tests/conformance/store_test.hpp"

namespace holdfast::conformance {
namespace {

class StoreAcquire : public StoreTest {};
HOLDFAST_ON_EVERY_STORE(StoreAcquire);

TEST_P(StoreAcquire, GrantsAFreeName) {
  const Claim a = claim();
  const Granted granted = store().grant(a);
  EXPECT_GT(granted.fence, Fence::none);
  EXPECT_EQ(granted.floor, granted.fence);
  EXPECT_EQ(granted.ttl, a.ttl);
}

TEST_P(StoreAcquire, AskedAgainAnswersTheSameFence) {
  const Claim a = claim();
  const Granted first = store().grant(a);
  EXPECT_EQ(store().grant(a).fence, first.fence);
  const auto queueing = store().acquire(a, Store::Queueing::yes);
  ASSERT_TRUE(std::holds_alternative<Granted>(queueing));
  EXPECT_EQ(std::get<Granted>(queueing).fence, first.fence);
  EXPECT_TRUE(waiters("job").empty());
  EXPECT_EQ(second().grant(a).fence, first.fence) << "through another connection";
}

TEST_P(StoreAcquire, AskedAgainRefreshesTheTtl) {
  const Claim a = claim("job", 400ms);
  store().grant(a);
  pass(250ms);
  EXPECT_EQ(store().grant(a).ttl, 400ms);
  pass(250ms);
  store().busy(claim());
  EXPECT_EQ(holder("job")->owner, a.owner);
}

TEST_P(StoreAcquire, AskedAgainCountsTheTtlAskedFor) {
  Claim a = claim("job", 30s);
  store().grant(a);
  a.ttl = 200ms;
  const Instant asked = now();
  EXPECT_EQ(store().grant(a).ttl, 200ms);
  EXPECT_GE(until_granted(claim()) + grain, asked + 200ms);
}

TEST_P(StoreAcquire, TellsWhoHoldsIt) {
  const Claim a = claim();
  const Fence fence = store().grant(a).fence;
  pass(50ms);
  const Busy busy = store().busy(claim());
  EXPECT_GT(busy.recheck_in, 29s);
  EXPECT_LE(busy.recheck_in, 30s);
  ASSERT_TRUE(busy.holder);
  EXPECT_EQ(busy.holder->owner, a.owner);
  EXPECT_EQ(busy.holder->fence, fence);
  EXPECT_EQ(busy.holder->mode, Mode::exclusive);
  EXPECT_EQ(busy.holder->who, a.who);
  EXPECT_GE(busy.holder->held_for, 45ms);
  EXPECT_LT(busy.holder->held_for, 5s);
  EXPECT_GT(busy.holder->ttl_left, 29s);
  EXPECT_LE(busy.holder->ttl_left, 30s);
  EXPECT_FALSE(busy.holder->broken);
  EXPECT_FALSE(busy.holder->released);
}

TEST_P(StoreAcquire, BusyLeavesNoPlaceInTheQueue) {
  const Claim a = claim();
  store().grant(a);
  store().busy(claim());
  EXPECT_TRUE(waiters("job").empty());
  store().release(a);
  EXPECT_FALSE(holder("job"));
}

TEST_P(StoreAcquire, OtherInstancesAndClientsAreExcluded) {
  store().grant(claim());
  second().busy(claim());
  elsewhere().busy(claim());
}

TEST_P(StoreAcquire, EndsByTimeAndNotBefore) {
  const Claim a = claim("job", 200ms);
  const Instant asked = now();
  const Fence fence = store().grant(a).fence;
  const Claim b = claim();
  EXPECT_GE(until_granted(b) + grain, asked + 200ms);
  EXPECT_GT(holder("job")->fence, fence);
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
}

TEST_P(StoreAcquire, ItsOwnerAskingTooLateGetsAGreaterFence) {
  const Claim a = claim("job", 100ms);
  const Fence fence = store().grant(a).fence;
  pass(150ms);
  EXPECT_GT(store().grant(a).fence, fence);
}

TEST_P(StoreAcquire, PartsOfAMillisecondRoundUp) {
  const Claim a = claim("job", 150ms + 1ns);
  EXPECT_GE(store().grant(a).ttl, a.ttl);
  EXPECT_LE(store().grant(a).ttl, a.ttl + 1ms);
  EXPECT_TRUE(is_renewed(store().renew(a)));
}

TEST_P(StoreAcquire, TheLongestTtlIsKept) {
  Claim a = claim("job", ttl_max);
  a.lock_delay = ttl_max;
  a.max_hold = ttl_max;
  EXPECT_EQ(store().grant(a).ttl, ttl_max);
  EXPECT_TRUE(is_renewed(store().renew(a)));
  EXPECT_GT(holder("job")->ttl_left, ttl_max);
}

TEST_P(StoreAcquire, MaxHoldBoundsTheTtl) {
  Claim a = claim("job", 10s);
  a.max_hold = 400ms;
  const Instant asked = now();
  EXPECT_EQ(store().grant(a).ttl, 400ms);
  pass(200ms);
  EXPECT_LE(store().grant(a).ttl, 200ms) << "asking again does not count from anew";
  const Instant freed = until_granted(claim());
  EXPECT_GE(freed + grain, asked + 400ms);
  EXPECT_LT(freed, asked + 1s);
}

TEST_P(StoreAcquire, LockDelayKeepsTheRecordLonger) {
  Claim a = claim("job", 200ms);
  a.lock_delay = 300ms;
  const Instant asked = now();
  EXPECT_EQ(store().grant(a).ttl, 200ms) << "the holder may not count on the delay";
  EXPECT_GT(store().busy(claim()).recheck_in, 400ms);
  EXPECT_GE(until_granted(claim()) + grain, asked + 500ms);
}

TEST_P(StoreAcquire, LockDelayComesAfterMaxHold) {
  Claim a = claim("job", 10s);
  a.max_hold = 200ms;
  a.lock_delay = 200ms;
  const Instant asked = now();
  EXPECT_EQ(store().grant(a).ttl, 200ms);
  EXPECT_GE(until_granted(claim()) + grain, asked + 400ms);
}

TEST_P(StoreAcquire, MinHoldOutlivesACrash) {
  Claim a = claim("job", 100ms);
  a.min_hold = 400ms;
  const Instant asked = now();
  store().grant(a);
  pass(200ms);
  store().busy(claim());
  EXPECT_GE(until_granted(claim()) + grain, asked + 400ms);
}

}  // namespace
}  // namespace holdfast::conformance

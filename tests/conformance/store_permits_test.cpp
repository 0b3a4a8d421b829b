// Semaphores: permits out of a limit that all agree on, recorded by holder.
#include "tests/conformance/store_test.hpp"

#include <algorithm>

namespace holdfast::conformance {
namespace {

using Owners = std::vector<OwnerId>;

constexpr WithdrawOptions after_use{.keep_min_hold = true, .tombstone = false};

class StorePermits : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    HOLDFAST_STORE_KNOWS(permits);
  }
  Claim lock() { return claim("pool"); }
};
HOLDFAST_ON_EVERY_STORE(StorePermits);

TEST_P(StorePermits, AreGrantedUpToTheLimit) {
  const Claim a = permit(3);
  const Fence first = store().grant(a).fence;
  const Claim b = permit(3);
  EXPECT_GT(second().grant(b).fence, first);
  store().grant(permit(3));
  store().busy(permit(3));
  EXPECT_EQ(store().grant(a).fence, first) << "asking again takes no more";
  store().release(b);
  store().grant(permit(3));
  store().busy(permit(3));
}

TEST_P(StorePermits, HoldersAndWaitersAreRecorded) {
  const Claim a = permit(5, 3);
  const Claim b = permit(5, 4);
  store().grant(a);
  store().queue(b);
  const NameView view = store().inspect("pool");
  ASSERT_EQ(view.holders.size(), 1U);
  EXPECT_EQ(view.holders[0].owner, a.owner);
  EXPECT_EQ(view.holders[0].permits, 3U);
  EXPECT_EQ(view.holders[0].limit, 5U);
  ASSERT_EQ(view.waiters.size(), 1U);
  EXPECT_EQ(view.waiters[0].permits, 4U);
  EXPECT_EQ(view.waiters[0].limit, 5U);
}

TEST_P(StorePermits, SeveralAtOnceOrNone) {
  store().grant(permit(5, 3));
  store().busy(permit(5, 3));
  const Claim b = permit(5, 2);
  store().grant(b);
  store().busy(permit(5));
  store().release(b);
  store().grant(permit(5));
}

TEST_P(StorePermits, AHeadThatNeedsMoreStopsLaterOnes) {
  const Claim a = permit(3, 2);
  const Claim b = permit(3, 3);
  const Claim c = permit(3);
  store().grant(a);
  store().queue(b);
  store().busy(permit(3));
  store().queue(c);
  EXPECT_EQ(waiters("pool"), (Owners{b.owner, c.owner})) << "one is free, but b comes first";
  store().release(a);
  store().await_hand_off(b.owner);
  EXPECT_EQ(waiters("pool"), Owners{c.owner});
  EXPECT_EQ(holder("pool")->permits, 3U);
  store().release(b);
  store().await_hand_off(c.owner);
}

TEST_P(StorePermits, WaitersEnterTogetherAsFarAsTheyFit) {
  const Claim a = permit(3, 3);
  store().grant(a);
  const Claim b = permit(3);
  const Claim c = permit(3);
  const Claim d = permit(3, 2);
  for (const Claim& each : {b, c, d}) {
    store().queue(each);
  }
  store().release(a);
  const HandedOff first = store().await_hand_off(b.owner);
  const HandedOff next = store().await_hand_off(c.owner);
  EXPECT_GT(next.fence, first.fence);
  EXPECT_EQ(next.floor, first.fence);
  EXPECT_EQ(waiters("pool"), Owners{d.owner});
  store().release(b);
  store().await_hand_off(d.owner);
}

TEST_P(StorePermits, TheFloorIsTheOldestOfTheLiving) {
  const Claim a = permit(3);
  const Granted first = store().grant(a);
  const Granted next = store().grant(permit(3));
  EXPECT_EQ(first.floor, first.fence);
  EXPECT_EQ(next.floor, first.fence);
  store().release(a);
  EXPECT_EQ(store().grant(permit(3)).floor, next.fence);
}

TEST_P(StorePermits, AnotherLimitIsRefused) {
  const Claim a = permit(3);
  store().grant(a);
  store().expect_invalid(permit(4));
  store().expect_invalid(permit(2), Store::Queueing::yes);
  EXPECT_EQ(holders("pool"), Owners{a.owner});
  EXPECT_TRUE(waiters("pool").empty());
  store().grant(permit(3));
}

TEST_P(StorePermits, ALockIsNoSemaphore) {
  const Claim a = permit(3);
  store().grant(a);
  store().expect_invalid(lock());
  store().expect_invalid(lock(), Store::Queueing::yes);
  store().release(a);
  const Claim w = lock();
  store().grant(w);
  store().expect_invalid(permit(3));
  store().expect_invalid(permit(3), Store::Queueing::yes);
  EXPECT_EQ(holders("pool"), Owners{w.owner});
  EXPECT_TRUE(waiters("pool").empty());
}

TEST_P(StorePermits, AReaderIsNoHolderOfAPermit) {
  HOLDFAST_STORE_KNOWS(shared);
  store().grant(reader("pool"));
  store().expect_invalid(permit(3));
}

TEST_P(StorePermits, WaitersSayHowTheNameIsUsed) {
  store().grant(permit(2, 2, 150ms));
  const Claim b = permit(2);
  store().queue(b);
  pass(250ms);
  store().expect_invalid(permit(3));
  store().expect_invalid(lock());
  EXPECT_TRUE(std::holds_alternative<Granted>(store().acquire(b, Store::Queueing::yes)));
}

TEST_P(StorePermits, AnIdleNameHasNoUseYet) {
  const Claim a = permit(3);
  const Fence fence = store().grant(a).fence;
  store().release(a);
  const Claim b = permit(5, 4);
  const Fence next = store().grant(b).fence;
  EXPECT_GT(next, fence);
  store().release(b);
  EXPECT_GT(store().grant(lock()).fence, next);
}

TEST_P(StorePermits, ComeBackByExpiry) {
  const Claim a = permit(2, 1, 200ms);
  const Instant asked = now();
  store().grant(a);
  const Claim b = permit(2);
  store().grant(b);
  EXPECT_LE(store().busy(permit(2)).recheck_in, 200ms);
  const Claim c = permit(2);
  EXPECT_GE(until_granted(c) + grain, asked + 200ms);
  EXPECT_EQ(holders("pool"), (Owners{b.owner, c.owner}));
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
}

TEST_P(StorePermits, OfOneThatEndedGoToTheHead) {
  store().grant(permit(2, 1, 150ms));
  const Claim b = permit(2);
  store().grant(b);
  const Claim c = permit(2);
  store().queue(c);
  pass(250ms);
  EXPECT_TRUE(is_renewed(store().renew(b)));
  store().await_hand_off(c.owner);
}

TEST_P(StorePermits, MinHoldKeepsThem) {
  Claim a = permit(2);
  a.min_hold = 400ms;
  const Instant asked = now();
  store().grant(a);
  store().release(a, after_use);
  const Claim b = permit(2);
  const Granted beside = store().grant(b);
  EXPECT_EQ(beside.floor, beside.fence);
  store().busy(permit(2));
  EXPECT_GE(until_granted(permit(2)) + grain, asked + 400ms);
}

TEST_P(StorePermits, ABrokenHolderKeepsThemUntilItAnswers) {
  const Claim a = permit(2);
  const Claim b = permit(2);
  store().grant(a);
  store().grant(b);
  const Claim c = permit(2, 2);
  store().queue(c);
  EXPECT_EQ(store().break_name("pool").holders.size(), 2U);
  store().busy(permit(2));
  store().release(a);
  EXPECT_EQ(waiters("pool"), Owners{c.owner});
  store().release(b);
  store().await_hand_off(c.owner);
}

TEST_P(StorePermits, BreakNowServesAsManyAsFit) {
  store().grant(permit(2, 2));
  const Claim b = permit(2);
  const Claim c = permit(2);
  const Claim d = permit(2);
  for (const Claim& each : {b, c, d}) {
    store().queue(each);
  }
  store().break_name("pool", BreakMode::now);
  store().await_hand_off(b.owner);
  store().await_hand_off(c.owner);
  EXPECT_EQ(waiters("pool"), Owners{d.owner});
}

TEST_P(StorePermits, ManyHolders) {
  std::vector<Claim> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(permit(100));
    store().grant(all.back());
  }
  store().busy(permit(100));
  EXPECT_EQ(holders("pool").size(), 100U);
  const std::vector<RenewReply> replies = store().renew(all);
  EXPECT_EQ(std::ranges::count_if(replies, [](const auto& r) { return is_renewed(r); }), 100);
  for (const Claim& each : all) {
    store().release(each);
  }
  EXPECT_TRUE(holders("pool").empty());
  store().grant(lock());
}

}  // namespace
}  // namespace holdfast::conformance

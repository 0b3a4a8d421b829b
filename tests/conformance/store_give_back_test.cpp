// withdraw() and break_name(): what is given back, refused later, kept for min_hold, taken away.
#include "tests/conformance/store_test.hpp"

namespace holdfast::conformance {
namespace {

constexpr WithdrawOptions after_use{.keep_min_hold = true, .tombstone = false};
constexpr WithdrawOptions unanswered{.keep_min_hold = false, .tombstone = true};

class StoreGiveBack : public StoreTest {};
HOLDFAST_ON_EVERY_STORE(StoreGiveBack);

TEST_P(StoreGiveBack, FreesTheName) {
  const Claim a = claim();
  store().grant(a);
  store().release(a, after_use);
  EXPECT_FALSE(holder("job"));
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a, after_use)));
  store().grant(claim());
}

TEST_P(StoreGiveBack, ChangesNothingOfAnothers) {
  const Claim a = claim();
  const Claim b = claim();
  store().grant(a);
  store().queue(b);
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(claim(), unanswered)));
  EXPECT_EQ(holder("job")->owner, a.owner);
  EXPECT_EQ(waiters("job"), std::vector{b.owner});
  EXPECT_TRUE(is_renewed(store().renew(a)));
}

TEST_P(StoreGiveBack, ATombstoneRefusesALateAcquire) {
  const Claim a = claim();
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a, unanswered)));
  store().busy(a);
  store().busy(a, Store::Queueing::yes);
  second().busy(a, Store::Queueing::yes);
  EXPECT_FALSE(holder("job"));
  EXPECT_TRUE(waiters("job").empty()) << "nobody listens for it any more";
  store().grant(claim());
}

TEST_P(StoreGiveBack, ATombstoneIsSetWhateverWasThere) {
  const Claim a = claim();
  const Claim b = claim();
  store().grant(a);
  store().queue(b);
  store().release(b, unanswered);
  store().release(a, unanswered);
  store().busy(a);
  store().busy(b, Store::Queueing::yes);
  EXPECT_FALSE(holder("job"));
}

TEST_P(StoreGiveBack, ATombstoneLastsOneTtl) {
  const Claim a = claim("job", 300ms);
  const Instant withdrawn = now();
  store().withdraw(a, unanswered);
  EXPECT_GE(until_granted(a) + grain, withdrawn + 300ms);
}

TEST_P(StoreGiveBack, WithoutATombstoneTheOwnerMayAskAgain) {
  const Claim a = claim();
  const Fence fence = store().grant(a).fence;
  store().release(a);
  EXPECT_GT(store().grant(a).fence, fence);
}

TEST_P(StoreGiveBack, MinHoldOutlivesTheRelease) {
  Claim a = claim();
  a.min_hold = 400ms;
  const Instant asked = now();
  const Fence fence = store().grant(a).fence;
  store().release(a, after_use);
  const Busy busy = store().busy(claim());
  ASSERT_TRUE(busy.holder);
  EXPECT_TRUE(busy.holder->released);
  EXPECT_EQ(busy.holder->fence, fence);
  EXPECT_LE(busy.recheck_in, 400ms) << "what is left of min_hold, not of the TTL";
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a, after_use)));
  EXPECT_GE(until_granted(claim()) + grain, asked + 400ms);
}

TEST_P(StoreGiveBack, AWithdrawIgnoresMinHold) {
  Claim a = claim();
  a.min_hold = 30s;
  store().grant(a);
  store().release(a, unanswered);
  store().grant(claim());
}

TEST_P(StoreGiveBack, MinHoldThatIsOverKeepsNothing) {
  Claim a = claim();
  a.min_hold = 100ms;
  store().grant(a);
  pass(150ms);
  store().release(a, after_use);
  store().grant(claim());
}

TEST_P(StoreGiveBack, WaitersAreServedAfterMinHold) {
  Claim a = claim();
  a.min_hold = 300ms;
  store().grant(a);
  const Claim b = claim();
  store().queue(b);
  store().release(a, after_use);
  const Queued beat = store().queue(b);
  EXPECT_LE(beat.recheck_in, 300ms);
  EXPECT_FALSE(store().has_heard_hand_off(b.owner));
  pass(beat.recheck_in + 20ms);
  store().grant(b);
}

class StoreBreak : public StoreTest {};
HOLDFAST_ON_EVERY_STORE(StoreBreak);

TEST_P(StoreBreak, AsksTheHolder) {
  const Claim a = claim();
  const Fence fence = store().grant(a).fence;
  // A store need not listen for a lease before it waited or renewed on the listening instance.
  store().queue(claim());
  store().renew(a);
  const BreakDone done = second().break_name("job");
  ASSERT_EQ(done.holders.size(), 1U);
  EXPECT_EQ(done.holders[0].owner, a.owner);
  EXPECT_EQ(done.holders[0].fence, fence);
  EXPECT_TRUE(store().await_broken(a.owner));
  EXPECT_TRUE(holder("job")->broken);
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::broken));
}

TEST_P(StoreBreak, TheHoldersAnswerFreesTheName) {
  const Claim a = claim();
  store().grant(a);
  const Claim b = claim();
  store().queue(b);
  store().break_name("job");
  store().busy(claim());
  EXPECT_FALSE(store().has_heard_hand_off(b.owner));
  store().release(a, after_use);
  store().await_hand_off(b.owner);
}

TEST_P(StoreBreak, ABrokenLeaseIsNotRefreshed) {
  const Claim a = claim("job", 300ms);
  const Instant asked = now();
  store().grant(a);
  store().break_name("job");
  pass(150ms);
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::broken));
  store().busy(a);
  EXPECT_LT(until_granted(claim()), asked + 800ms);
}

TEST_P(StoreBreak, NowFreesAtOnceAndHandsOn) {
  const Claim a = claim();
  const Fence fence = store().grant(a).fence;
  const Claim b = claim();
  store().queue(b);
  const BreakDone done = store().break_name("job", BreakMode::now);
  ASSERT_EQ(done.holders.size(), 1U);
  EXPECT_EQ(done.holders[0].owner, a.owner);
  EXPECT_GT(store().await_hand_off(b.owner).fence, fence);
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a)));
  EXPECT_EQ(holder("job")->owner, b.owner);
}

TEST_P(StoreBreak, NowAfterAsking) {
  const Claim a = claim();
  store().grant(a);
  store().break_name("job");
  const BreakDone done = store().break_name("job", BreakMode::now);
  ASSERT_EQ(done.holders.size(), 1U);
  EXPECT_TRUE(done.holders[0].broken);
  store().grant(claim());
}

TEST_P(StoreBreak, OfAFreeNameHitsNobody) {
  EXPECT_TRUE(store().break_name("job").holders.empty());
  EXPECT_TRUE(store().break_name("job", BreakMode::now).holders.empty());
  store().grant(claim());
}

TEST_P(StoreBreak, RemovesWhatMinHoldLeftInBothModes) {
  for (const BreakMode mode : {BreakMode::ask_holder, BreakMode::now}) {
    Claim a = claim();
    a.min_hold = 30s;
    store().grant(a);
    store().release(a, after_use);
    store().busy(claim());
    store().break_name("job", mode);
    const Claim b = claim();
    store().grant(b);
    store().release(b);
  }
}

}  // namespace
}  // namespace holdfast::conformance

// Readers and writers of one name: who may stand beside whom, in which order, until when.
#include "tests/conformance/store_test.hpp"

namespace holdfast::conformance {
namespace {

using Owners = std::vector<OwnerId>;

constexpr WithdrawOptions after_use{.keep_min_hold = true, .tombstone = false};

class StoreShared : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    HOLDFAST_STORE_KNOWS(shared);
  }
};
HOLDFAST_ON_EVERY_STORE(StoreShared);

TEST_P(StoreShared, ReadersStandBesideEachOther) {
  const Claim a = reader();
  const Claim b = reader();
  const Fence first = store().grant(a).fence;
  const Fence later = second().grant(b).fence;
  EXPECT_GT(later, first);
  const NameView view = store().inspect("job");
  ASSERT_EQ(view.holders.size(), 2U);
  for (const Holder& held : view.holders) {
    EXPECT_EQ(held.mode, Mode::shared);
    EXPECT_EQ(held.limit, 0U);
  }
  EXPECT_EQ(holders("job"), (Owners{a.owner, b.owner})) << "in the order of their fences";
  EXPECT_EQ(view.holders[1].who, b.who);
  EXPECT_EQ(store().grant(a).fence, first) << "asking is idempotent";
  EXPECT_EQ(holders("job").size(), 2U);
}

TEST_P(StoreShared, AWriterWaitsForTheLastReader) {
  const Claim a = reader();
  const Claim b = reader();
  store().grant(a);
  store().grant(b);
  store().busy(claim());
  const Claim w = claim();
  store().queue(w);
  store().release(a);
  EXPECT_EQ(waiters("job"), Owners{w.owner});
  store().release(b);
  const HandedOff handed = store().await_hand_off(w.owner);
  EXPECT_EQ(handed.floor, handed.fence);
  EXPECT_EQ(holder("job")->mode, Mode::exclusive);
}

TEST_P(StoreShared, AReaderWaitsForTheWriter) {
  const Claim w = claim();
  store().grant(w);
  store().busy(reader());
  const Claim a = reader();
  store().queue(a);
  EXPECT_EQ(store().inspect("job").waiters.at(0).mode, Mode::shared);
  store().release(w);
  store().await_hand_off(a.owner);
  EXPECT_EQ(holder("job")->mode, Mode::shared);
  store().grant(reader());
}

TEST_P(StoreShared, AWaitingWriterStopsLaterReaders) {
  const Claim a = reader();
  store().grant(a);
  const Claim w = claim();
  store().queue(w);
  store().busy(reader());
  const Claim late = reader();
  store().queue(late);
  EXPECT_TRUE(is_renewed(store().renew(a))) << "who is in stays in";
  EXPECT_EQ(waiters("job"), (Owners{w.owner, late.owner}));
  store().release(a);
  store().await_hand_off(w.owner);
  EXPECT_EQ(waiters("job"), Owners{late.owner});
  store().release(w);
  store().await_hand_off(late.owner);
}

TEST_P(StoreShared, ReadersThatStandNextToEachOtherEnterTogether) {
  const Claim w = claim();
  store().grant(w);
  const Claim a = reader();
  const Claim b = reader();
  const Claim w2 = claim();
  const Claim c = reader();
  for (const Claim& each : {a, b, w2, c}) {
    store().queue(each);
  }
  store().release(w);
  const HandedOff first = store().await_hand_off(a.owner);
  const HandedOff next = store().await_hand_off(b.owner);
  EXPECT_GT(next.fence, first.fence);
  EXPECT_EQ(first.floor, first.fence);
  EXPECT_EQ(next.floor, first.fence) << "the one beside it is older";
  EXPECT_EQ(holders("job"), (Owners{a.owner, b.owner}));
  EXPECT_EQ(waiters("job"), (Owners{w2.owner, c.owner}));
  const Granted asked = store().grant(b);
  EXPECT_EQ(asked.fence, next.fence);
  EXPECT_EQ(asked.floor, next.floor);
}

TEST_P(StoreShared, ThoseBehindTheOneThatAsksEnterWithIt) {
  store().grant(claim("job", 150ms));
  const Claim a = reader();
  const Claim b = reader();
  store().queue(a);
  store().queue(b);
  pass(250ms);
  EXPECT_TRUE(std::holds_alternative<Granted>(store().acquire(a, Store::Queueing::yes)));
  EXPECT_GT(store().await_hand_off(b.owner).fence, holder("job")->fence);
  EXPECT_FALSE(store().has_heard_hand_off(a.owner)) << "its answer told it";
  EXPECT_TRUE(waiters("job").empty());
}

TEST_P(StoreShared, AWriterThatLeavesTheQueueLetsReadersIn) {
  store().grant(reader());
  const Claim w = claim();
  const Claim a = reader();
  store().queue(w);
  store().queue(a);
  store().release(w);
  store().await_hand_off(a.owner);
  EXPECT_EQ(holders("job").size(), 2U);
}

TEST_P(StoreShared, ADeadWriterStopsNobody) {
  store().grant(reader());
  const Claim w = waiter("job", 150ms);
  store().queue(w);
  const Claim a = reader();
  store().queue(a);
  pass(250ms);
  EXPECT_TRUE(std::holds_alternative<Granted>(store().acquire(a, Store::Queueing::yes)));
}

TEST_P(StoreShared, EachReaderHasItsOwnExpiry) {
  const Claim a = reader();
  const Claim b = reader("job", 200ms);
  store().grant(a);
  store().grant(b);
  store().queue(claim());  // a store need not serve this name before
  EXPECT_TRUE(is_renewed(store().renew(a)));
  pass(300ms);
  EXPECT_EQ(holders("job"), Owners{a.owner});
  EXPECT_TRUE(is_gone(store().renew(b), GoneReason::taken));
  EXPECT_TRUE(is_renewed(store().renew(a)));
  store().busy(claim());
}

TEST_P(StoreShared, ARenewalOfOneDoesNotKeepTheOther) {
  const Claim a = reader("job", 300ms);
  const Claim b = reader("job", 300ms);
  store().grant(a);
  store().grant(b);
  const std::vector<Claim> ours{a};
  for (int i = 0; i < 4; ++i) {
    pass(100ms);
    ASSERT_TRUE(is_renewed(store().renew(ours).at(0)));
  }
  EXPECT_EQ(holders("job"), Owners{a.owner});
}

TEST_P(StoreShared, LooksAgainWhenTheFirstOfThemEnds) {
  const Claim a = reader();
  store().grant(a);
  store().grant(reader("job", 300ms));
  const Busy busy = store().busy(claim());
  EXPECT_LE(busy.recheck_in, 300ms);
  ASSERT_TRUE(busy.holder);
  EXPECT_EQ(busy.holder->owner, a.owner) << "the oldest";
  EXPECT_LE(store().queue(claim()).recheck_in, 300ms);
}

TEST_P(StoreShared, TheFloorIsTheOldestOfTheLiving) {
  const Claim a = reader();
  const Claim b = reader();
  const Granted first = store().grant(a);
  const Granted next = store().grant(b);
  EXPECT_EQ(first.floor, first.fence);
  EXPECT_EQ(next.floor, first.fence);
  store().release(a);
  EXPECT_EQ(store().grant(reader()).floor, next.fence);
  EXPECT_EQ(store().grant(b).floor, first.fence) << "a grant keeps its floor";
}

TEST_P(StoreShared, GivingBackOneLeavesTheOthers) {
  const Claim a = reader();
  const Claim b = reader();
  store().grant(a);
  store().grant(b);
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(reader())));
  store().release(a);
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a)));
  EXPECT_EQ(holders("job"), Owners{b.owner});
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
  EXPECT_TRUE(is_renewed(store().renew(b)));
}

TEST_P(StoreShared, MinHoldOfAReaderStopsWritersOnly) {
  Claim a = reader();
  a.min_hold = 400ms;
  const Instant asked = now();
  store().grant(a);
  store().release(a, after_use);
  const Claim b = reader();
  const Granted beside = store().grant(b);
  EXPECT_EQ(beside.floor, beside.fence) << "nobody is inside any more";
  store().busy(claim());
  EXPECT_EQ(holders("job"), (Owners{a.owner, b.owner}));
  EXPECT_TRUE(holder("job")->released);
  store().release(b);
  EXPECT_GE(until_granted(claim()) + grain, asked + 400ms);
}

TEST_P(StoreShared, MinHoldOfAWriterStopsReaders) {
  Claim w = claim();
  w.min_hold = 300ms;
  const Instant asked = now();
  store().grant(w);
  store().release(w, after_use);
  store().busy(reader());
  EXPECT_GE(until_granted(reader()) + grain, asked + 300ms);
}

TEST_P(StoreShared, ARenewalSaysWhichGrantIsMeant) {
  Claim a = reader();
  a.fence = store().grant(a).fence;
  store().grant(reader());
  EXPECT_TRUE(is_renewed(store().renew(a)));
  a.fence = Fence{to_int(a.fence) - 1};
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
}

TEST_P(StoreShared, MaxHoldIsEachReadersOwn) {
  Claim a = reader();
  a.max_hold = 300ms;
  const Claim b = reader();
  store().grant(a);
  store().grant(b);
  EXPECT_LE(std::get<Renewed>(store().renew(a)).ttl, 300ms);
  EXPECT_EQ(std::get<Renewed>(store().renew(b)).ttl, 30s);
  pass(350ms);
  EXPECT_EQ(holders("job"), Owners{b.owner});
}

TEST_P(StoreShared, BreakAsksAllReaders) {
  const Claim a = reader();
  const Claim b = reader();
  store().grant(a);
  store().grant(b);
  const Claim w = claim();
  store().queue(w);
  store().renew(a);
  store().renew(b);
  const BreakDone done = second().break_name("job");
  ASSERT_EQ(done.holders.size(), 2U);
  EXPECT_EQ(done.holders[0].owner, a.owner);
  EXPECT_EQ(done.holders[1].owner, b.owner);
  EXPECT_TRUE(store().await_broken(a.owner));
  EXPECT_TRUE(store().await_broken(b.owner));
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::broken));
  store().release(a);
  EXPECT_EQ(waiters("job"), Owners{w.owner}) << "one of them has not answered";
  store().release(b);
  store().await_hand_off(w.owner);
}

TEST_P(StoreShared, ABrokenReaderCountsUntilItEnds) {
  const Claim a = reader();
  store().grant(a);
  store().break_name("job");
  store().busy(claim());
  store().busy(a);
  const Claim b = reader();
  store().grant(b);
  EXPECT_EQ(holders("job"), (Owners{a.owner, b.owner}));
  EXPECT_TRUE(is_renewed(store().renew(b)));
}

TEST_P(StoreShared, BreakNowTakesAllAway) {
  const Claim a = reader();
  const Claim b = reader();
  store().grant(a);
  store().grant(b);
  const Claim w = claim();
  store().queue(w);
  EXPECT_EQ(store().break_name("job", BreakMode::now).holders.size(), 2U);
  store().await_hand_off(w.owner);
  EXPECT_EQ(holders("job"), Owners{w.owner});
  EXPECT_TRUE(is_gone(store().renew(b), GoneReason::taken));
}

TEST_P(StoreShared, ATombstoneRefusesALateReader) {
  const Claim a = reader();
  store().grant(reader());
  store().withdraw(a, {.keep_min_hold = false, .tombstone = true});
  store().busy(a);
  store().busy(a, Store::Queueing::yes);
  EXPECT_EQ(holders("job").size(), 1U);
}

TEST_P(StoreShared, IsListedOnce) {
  store().grant(reader());
  store().grant(reader());
  store().grant(reader("other"));
  const std::vector<NameView> names = store().list_all();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0].holders.size() + names[1].holders.size(), 3U);
}

}  // namespace
}  // namespace holdfast::conformance

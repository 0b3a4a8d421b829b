// The queue: order, beats, the dead, and places that are left.
#include "tests/conformance/store_test.hpp"

namespace holdfast::conformance {
namespace {

using Owners = std::vector<OwnerId>;

class StoreQueue : public StoreTest {};
HOLDFAST_ON_EVERY_STORE(StoreQueue);

TEST_P(StoreQueue, KeepsTheOrderOfArrival) {
  const Claim a = claim();
  const Fence fence = store().grant(a).fence;
  const Claim b = claim();
  const Claim c = claim();
  const Claim d = claim();
  const Queued place = store().queue(b);
  EXPECT_GT(place.recheck_in, 29s);
  ASSERT_TRUE(place.holder) << "a waiter has to know the fence that a hand-off must exceed";
  EXPECT_EQ(place.holder->owner, a.owner);
  EXPECT_EQ(place.holder->fence, fence);
  store().queue(c);
  store().queue(d);
  EXPECT_EQ(waiters("job"), (Owners{b.owner, c.owner, d.owner}));
}

TEST_P(StoreQueue, ABeatKeepsThePlace) {
  store().grant(claim());
  const Claim b = waiter("job", 400ms);
  const Claim c = waiter("job", 400ms);
  store().queue(b);
  store().queue(c);
  for (int beat = 0; beat < 4; ++beat) {
    pass(150ms);
    store().queue(c);
    store().queue(b);
  }
  EXPECT_EQ(waiters("job"), (Owners{b.owner, c.owner}));
}

TEST_P(StoreQueue, TellsWhoWaits) {
  store().grant(claim());
  const Claim b = claim();
  store().queue(b);
  pass(50ms);
  store().queue(b);
  const NameView view = store().inspect("job");
  ASSERT_EQ(view.waiters.size(), 1U);
  EXPECT_EQ(view.waiters[0].who, b.who);
  EXPECT_EQ(view.waiters[0].mode, Mode::exclusive);
  EXPECT_GE(view.waiters[0].waiting_for, 45ms) << "a beat does not make it a newcomer";
  EXPECT_LT(view.waiters[0].waiting_for, 5s);
}

TEST_P(StoreQueue, TheDeadLoseTheirPlace) {
  const Claim a = claim();
  store().grant(a);
  const Claim b = waiter("job", 150ms);
  const Claim c = claim();
  store().queue(b);
  store().queue(c);
  pass(250ms);
  EXPECT_EQ(waiters("job"), Owners{c.owner});
  store().release(a);
  store().await_hand_off(c.owner);
  EXPECT_FALSE(store().has_heard_hand_off(b.owner));
}

TEST_P(StoreQueue, ALateBeatJoinsAtTheEnd) {
  store().grant(claim());
  const Claim b = waiter("job", 150ms);
  const Claim c = claim();
  store().queue(b);
  store().queue(c);
  pass(250ms);
  store().queue(b);
  EXPECT_EQ(waiters("job"), (Owners{c.owner, b.owner}));
}

TEST_P(StoreQueue, ATryKeepsAPlaceButIsNoBeat) {
  const Claim a = claim();
  store().grant(a);
  const Claim b = waiter("job", 300ms);
  store().queue(b);
  pass(150ms);
  store().busy(b);
  EXPECT_EQ(waiters("job"), Owners{b.owner});
  pass(250ms);
  EXPECT_TRUE(waiters("job").empty());
}

TEST_P(StoreQueue, ATryDoesNotOvertake) {
  store().grant(claim("job", 150ms));
  const Claim b = claim();
  store().queue(b);
  pass(250ms);
  const Busy busy = store().busy(claim());
  ASSERT_TRUE(busy.holder);
  EXPECT_EQ(busy.holder->owner, b.owner) << "the try met a free name and gave it to the head";
  store().await_hand_off(b.owner);
}

TEST_P(StoreQueue, TheHeadItselfTakesAFreeName) {
  store().grant(claim("job", 150ms));
  const Claim b = claim();
  const Claim c = claim();
  store().queue(b);
  store().queue(c);
  pass(250ms);
  store().grant(b);
  EXPECT_EQ(waiters("job"), Owners{c.owner});
  pass(50ms);
  EXPECT_FALSE(store().has_heard_hand_off(b.owner)) << "the answer says it already";
}

TEST_P(StoreQueue, TheHeadTryingTakesAFreeName) {
  store().grant(claim("job", 150ms));
  const Claim b = claim();
  store().queue(b);
  pass(250ms);
  store().grant(b);
  EXPECT_TRUE(waiters("job").empty());
}

TEST_P(StoreQueue, AWaiterMayLeave) {
  const Claim a = claim();
  store().grant(a);
  const Claim b = claim();
  const Claim c = claim();
  store().queue(b);
  store().queue(c);
  store().release(b);
  EXPECT_EQ(waiters("job"), Owners{c.owner});
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(b)));
  store().release(a);
  store().await_hand_off(c.owner);
}

TEST_P(StoreQueue, SurvivesItsHolderAsSeenByPeople) {
  store().grant(claim("job", 100ms));
  const Claim b = claim();
  store().queue(b);
  pass(150ms);
  const NameView view = store().inspect("job");
  EXPECT_TRUE(view.holders.empty() || view.holders[0].owner == b.owner);
  EXPECT_TRUE(view.waiters.size() == 1 || view.holders.size() == 1);
}

TEST_P(StoreQueue, ServesManyInOrder) {
  const Claim first = claim();
  Fence fence = store().grant(first).fence;
  std::vector<Claim> line;
  for (int i = 0; i < 30; ++i) {
    line.push_back(claim());
    store().queue(line.back());
  }
  store().release(first);
  for (const Claim& next : line) {
    const HandedOff handed = store().await_hand_off(next.owner);
    EXPECT_GT(handed.fence, fence);
    fence = handed.fence;
    store().release(next);
  }
  EXPECT_FALSE(holder("job"));
}

}  // namespace
}  // namespace holdfast::conformance

// Hand-off: the step that finds the name free with waiters grants the head, provisionally.
#include "tests/conformance/store_test.hpp"

namespace holdfast::conformance {
namespace {

class StoreHandOff : public StoreTest {};
HOLDFAST_ON_EVERY_STORE(StoreHandOff);

TEST_P(StoreHandOff, ReleaseGrantsTheHead) {
  const Claim a = claim();
  const Fence fence = store().grant(a).fence;
  const Claim b = claim();
  store().queue(b);
  store().queue(claim());
  store().release(a);
  const HandedOff handed = store().await_hand_off(b.owner);
  EXPECT_GT(handed.fence, fence);
  EXPECT_EQ(handed.floor, handed.fence);
  EXPECT_EQ(holder("job")->owner, b.owner);
  EXPECT_EQ(holder("job")->who, b.who);
  EXPECT_EQ(waiters("job").size(), 1U);
  EXPECT_EQ(store().grant(b).fence, handed.fence) << "asking is idempotent here, too";
}

TEST_P(StoreHandOff, ReachesTheListenerWhicheverInstanceAsked) {
  const Claim a = claim();
  store().grant(a);
  store().grant(claim("other"));
  store().queue(claim("other"));  // a store need not listen before its listener waits
  const Claim b = claim();
  second().queue(b);
  second().release(a);
  store().await_hand_off(b.owner);
}

TEST_P(StoreHandOff, ReachesOtherClients) {
  const Claim a = claim();
  store().grant(a);
  auto other = elsewhere();
  const Claim b = claim();
  other.queue(b);
  store().release(a);
  const HandedOff handed = other.await_hand_off(b.owner);
  EXPECT_EQ(other.grant(b).fence, handed.fence);
}

TEST_P(StoreHandOff, IsProvisionalUntilTheWaiterAnswers) {
  const Claim a = claim();
  store().grant(a);
  const Claim b = waiter("job", 400ms);
  const Instant beat = now();
  store().queue(b);
  pass(100ms);
  store().release(a);
  store().await_hand_off(b.owner);
  EXPECT_LE(holder("job")->ttl_left, 320ms);
  const Instant freed = until_granted(claim());
  EXPECT_GE(freed + grain, beat + 400ms) << "it may be trusted for that long";
  EXPECT_LT(freed, beat + 1500ms) << "not for a whole TTL";
}

TEST_P(StoreHandOff, ARenewalMakesItFull) {
  const Claim a = claim();
  store().grant(a);
  const Claim b = waiter("job", 300ms);
  store().queue(b);
  store().release(a);
  store().await_hand_off(b.owner);
  const RenewReply reply = store().renew(b);
  ASSERT_TRUE(is_renewed(reply));
  EXPECT_EQ(std::get<Renewed>(reply).ttl, 30s);
  pass(400ms);
  EXPECT_EQ(holder("job")->owner, b.owner);
}

TEST_P(StoreHandOff, AskingMakesItFull) {
  const Claim a = claim();
  store().grant(a);
  const Claim b = waiter("job", 300ms);
  store().queue(b);
  store().release(a);
  EXPECT_EQ(std::get<Granted>(store().acquire(b, Store::Queueing::yes)).ttl, 30s);
  pass(400ms);
  EXPECT_EQ(holder("job")->owner, b.owner);
}

TEST_P(StoreHandOff, WithdrawingWhileBeingGrantedHandsOn) {
  const Claim a = claim();
  store().grant(a);
  const Claim b = claim();
  const Claim c = claim();
  store().queue(b);
  store().queue(c);
  store().release(a);
  // b does not know yet that it was granted; leaving is one step all the same.
  store().release(b, {.keep_min_hold = false, .tombstone = true});
  store().await_hand_off(c.owner);
  EXPECT_EQ(holder("job")->owner, c.owner);
  EXPECT_TRUE(std::holds_alternative<Busy>(store().acquire(b)));
}

TEST_P(StoreHandOff, AnUnansweredOneGoesToTheNext) {
  const Claim a = claim();
  store().grant(a);
  const Claim b = waiter("job", 200ms);
  const Claim c = claim();
  store().queue(b);
  store().queue(c);
  store().release(a);
  store().await_hand_off(b.owner);
  pass(300ms);
  store().busy(claim());
  store().await_hand_off(c.owner);
}

TEST_P(StoreHandOff, CarriesTheWaitersOwnTimes) {
  const Claim a = claim();
  store().grant(a);
  Claim b = waiter("job", 300ms);
  b.lock_delay = 300ms;
  b.max_hold = 10s;
  const Instant beat = now();
  store().queue(b);
  store().release(a);
  store().await_hand_off(b.owner);
  const RenewReply reply = store().renew(b);
  EXPECT_LE(std::get<Renewed>(reply).ttl, 10s) << "max_hold counts from the grant";
  EXPECT_GT(std::get<Renewed>(reply).ttl, 9s);
  store().release(b);
  store().grant(a);
  store().queue(b);
  store().release(a);
  EXPECT_GE(until_granted(claim()) + grain, beat + 600ms) << "liveness and lock_delay";
}

TEST_P(StoreHandOff, CarriesTheWaitersMinHold) {
  const Claim a = claim();
  store().grant(a);
  Claim b = claim();
  b.min_hold = 400ms;
  store().queue(b);
  const Instant handed = now();
  store().release(a);
  store().await_hand_off(b.owner);
  store().renew(b);
  store().release(b, {.keep_min_hold = true, .tombstone = false});
  EXPECT_TRUE(holder("job")->released);
  EXPECT_GE(until_granted(claim()) + grain, handed + 400ms);
}

TEST_P(StoreHandOff, AnUnansweredOneKeepsNoMinHold) {
  const Claim a = claim();
  store().grant(a);
  Claim b = waiter("job", 200ms);
  b.min_hold = 30s;
  store().queue(b);
  store().release(a);
  store().await_hand_off(b.owner);
  until_granted(claim());
}

// The first request of any kind that meets an ended record with waiters grants the head.
enum class First { try_acquire, join, renew, withdraw, break_name };

class StoreFirstRequest : public StoreTest {
 protected:
  void run(First first) {
    store().grant(claim("job", 150ms));
    const Claim b = claim();
    store().queue(b);
    pass(250ms);
    EXPECT_FALSE(store().has_heard_hand_off(b.owner));
    const Claim stranger = claim();
    switch (first) {
      case First::try_acquire:
        store().busy(stranger);
        break;
      case First::join:
        store().queue(stranger);
        break;
      case First::renew:
        EXPECT_TRUE(is_gone(store().renew(stranger), GoneReason::taken));
        break;
      case First::withdraw:
        EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(stranger)));
        break;
      case First::break_name:
        store().break_name("job");
        break;
    }
    store().await_hand_off(b.owner);
  }
};
HOLDFAST_ON_EVERY_STORE(StoreFirstRequest);

TEST_P(StoreFirstRequest, Try) { run(First::try_acquire); }
TEST_P(StoreFirstRequest, Join) { run(First::join); }
TEST_P(StoreFirstRequest, Renew) { run(First::renew); }
TEST_P(StoreFirstRequest, Withdraw) { run(First::withdraw); }
TEST_P(StoreFirstRequest, Break) { run(First::break_name); }

}  // namespace
}  // namespace holdfast::conformance

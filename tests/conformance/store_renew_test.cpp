// renew(): keeps what is ours, creates nothing, touches nobody else's.
#include "tests/conformance/store_test.hpp"

namespace holdfast::conformance {
namespace {

class StoreRenew : public StoreTest {};
HOLDFAST_ON_EVERY_STORE(StoreRenew);

TEST_P(StoreRenew, KeepsTheLeaseAndItsFence) {
  const Claim a = claim("job", 400ms);
  const Fence fence = store().grant(a).fence;
  for (int round = 0; round < 3; ++round) {
    pass(200ms);
    const RenewReply reply = store().renew(a);
    ASSERT_TRUE(is_renewed(reply));
    EXPECT_EQ(std::get<Renewed>(reply).ttl, 400ms);
  }
  EXPECT_EQ(holder("job")->fence, fence);
  EXPECT_EQ(store().grant(a).fence, fence);
}

TEST_P(StoreRenew, NeverAddsUp) {  // C09: twenty renewals within a second are one TTL, not twenty
  const Claim a = claim("job", 300ms);
  store().grant(a);
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(is_renewed(store().renew(a)));
  }
  const Instant renewed = now();
  EXPECT_LE(holder("job")->ttl_left, 300ms);
  EXPECT_LT(until_granted(claim()), renewed + 800ms);
}

TEST_P(StoreRenew, KnowsWhichGrantIsMeant) {
  Claim a = claim();
  const Fence fence = store().grant(a).fence;
  a.fence = fence;
  EXPECT_TRUE(is_renewed(store().renew(a)));
  a.fence = Fence{to_int(fence) - 1};
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
  EXPECT_EQ(holder("job")->fence, fence) << "what is there is not touched";
}

TEST_P(StoreRenew, CreatesNothing) {
  const Claim a = claim();
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
  EXPECT_FALSE(holder("job"));
  store().grant(claim());
}

TEST_P(StoreRenew, DoesNotBringBackTheDead) {
  const Claim a = claim("job", 100ms);
  store().grant(a);
  pass(200ms);
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
  EXPECT_FALSE(holder("job"));
}

TEST_P(StoreRenew, DoesNotTouchAnothersLease) {
  const Claim a = claim("job", 300ms);
  const Instant asked = now();
  store().grant(a);
  pass(150ms);
  Claim stranger = claim("job", 30s);
  EXPECT_TRUE(is_gone(store().renew(stranger), GoneReason::taken));
  EXPECT_LT(until_granted(stranger), asked + 800ms);
}

// Found by comparing random conversations: the mark of the break outlived the release.
TEST_P(StoreRenew, ABrokenLeaseThatWasReleasedUnderMinHoldIsTaken) {
  Claim a = claim();
  a.min_hold = 10s;
  store().grant(a);
  store().break_name("job");
  store().withdraw(a, {.keep_min_hold = true});
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
}

TEST_P(StoreRenew, AReleasedLeaseIsGone) {
  const Claim a = claim();
  store().grant(a);
  store().release(a);
  EXPECT_TRUE(is_gone(store().renew(a), GoneReason::taken));
  EXPECT_FALSE(holder("job"));
}

TEST_P(StoreRenew, AWaiterHasNothingToRenew) {
  store().grant(claim());
  const Claim b = waiter("job", 300ms);
  store().queue(b);
  EXPECT_TRUE(is_gone(store().renew(b), GoneReason::taken));
  pass(200ms);
  EXPECT_TRUE(is_gone(store().renew(b), GoneReason::taken));
  pass(200ms);
  EXPECT_TRUE(waiters("job").empty()) << "a renewal is no beat";
}

TEST_P(StoreRenew, NeverCarriesPastMaxHold) {
  Claim a = claim("job", 300ms);
  a.max_hold = 500ms;
  const Instant asked = now();
  store().grant(a);
  pass(300ms - 50ms);
  const RenewReply reply = store().renew(a);
  ASSERT_TRUE(is_renewed(reply));
  EXPECT_LE(std::get<Renewed>(reply).ttl, 260ms);
  pass(200ms);
  store().renew(a);
  const Instant freed = until_granted(claim());
  EXPECT_GE(freed + grain, asked + 500ms);
  EXPECT_LT(freed, asked + 1s);
}

TEST_P(StoreRenew, IsToldOfTheTrustPartOfTheTtlOnly) {
  Claim a = claim("job", 10s);
  a.lock_delay = 20s;
  store().grant(a);
  EXPECT_EQ(std::get<Renewed>(store().renew(a)).ttl, 10s);
  EXPECT_GT(holder("job")->ttl_left, 29s);
}

TEST_P(StoreRenew, KeepsMinHold) {
  Claim a = claim("job", 100ms);
  a.min_hold = 500ms;
  const Instant asked = now();
  store().grant(a);
  store().renew(a);
  EXPECT_GE(until_granted(claim()) + grain, asked + 500ms);
}

TEST_P(StoreRenew, AnswersABatchInItsOrder) {
  const Claim held = claim("held");
  const Claim lost = claim("lost");
  const Claim broken = claim("broken");
  const Claim never = claim("never");
  store().grant(held);
  store().grant(broken);
  store().grant(claim("lost"));
  store().break_name("broken");
  const std::vector<Claim> batch{lost, held, never, broken, held};
  const std::vector<RenewReply> replies = store().renew(batch);
  ASSERT_EQ(replies.size(), batch.size());
  EXPECT_TRUE(is_gone(replies[0], GoneReason::taken));
  EXPECT_TRUE(is_renewed(replies[1]));
  EXPECT_TRUE(is_gone(replies[2], GoneReason::taken));
  EXPECT_TRUE(is_gone(replies[3], GoneReason::broken));
  EXPECT_TRUE(is_renewed(replies[4]));
}

TEST_P(StoreRenew, TakesAnyNumberOfClaims) {
  EXPECT_TRUE(store().renew(std::span<const Claim>{}).empty());
  std::vector<Claim> batch;
  for (int i = 0; i < 700; ++i) {
    batch.push_back(claim("many/" + std::to_string(i)));
    if (i % 7 == 0) {
      store().grant(batch.back());
    }
  }
  const std::vector<RenewReply> replies = store().renew(batch);
  ASSERT_EQ(replies.size(), batch.size());
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(is_renewed(replies[i]), i % 7 == 0) << i;
  }
}

}  // namespace
}  // namespace holdfast::conformance

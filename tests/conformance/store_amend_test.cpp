// amend(): the value of a lease, and from writer to reader without letting go.
#include "tests/conformance/store_test.hpp"

#include <algorithm>

namespace holdfast::conformance {
namespace {

using Owners = std::vector<OwnerId>;

bool is_amended(const AmendReply& reply) { return std::holds_alternative<Amended>(reply); }

bool is_gone_as(const AmendReply& reply, GoneReason reason) {
  const auto* gone = std::get_if<Gone>(&reply);
  return gone != nullptr && gone->reason == reason;
}

Claim as_reader(Claim claim) {
  claim.mode = Mode::shared;
  return claim;
}

class StoreAmend : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    HOLDFAST_STORE_KNOWS(values);
  }
};
HOLDFAST_ON_EVERY_STORE(StoreAmend);

TEST_P(StoreAmend, SetsTheValue) {
  Claim a = claim();
  a.value = "10.0.0.1:80";
  const Fence fence = store().grant(a).fence;
  EXPECT_EQ(holder("job")->value, "10.0.0.1:80");
  a.value = "10.0.0.1:81";
  EXPECT_TRUE(is_amended(second().amend(a)));
  EXPECT_EQ(holder("job")->value, "10.0.0.1:81");
  EXPECT_EQ(holder("job")->fence, fence);
  EXPECT_EQ(store().busy(claim()).holder->value, "10.0.0.1:81");
  a.value = "";
  EXPECT_TRUE(is_amended(store().amend(a)));
  EXPECT_EQ(holder("job")->value, "");
}

TEST_P(StoreAmend, AValueMayBeAnyBytes) {
  Claim a = claim();
  for (std::size_t i = 0; i < value_size_max; ++i) {
    a.value += static_cast<char>(i % 256);
  }
  store().grant(a);
  EXPECT_EQ(holder("job")->value, a.value);
  std::ranges::reverse(a.value);
  EXPECT_TRUE(is_amended(store().amend(a)));
  EXPECT_EQ(holder("job")->value, a.value);
}

TEST_P(StoreAmend, AHandOffCarriesTheValue) {
  const Claim a = claim();
  store().grant(a);
  Claim b = claim();
  b.value = "b";
  store().queue(b);
  store().release(a);
  store().await_hand_off(b.owner);
  EXPECT_EQ(holder("job")->value, "b");
}

TEST_P(StoreAmend, TheNextHolderHasItsOwnValue) {
  Claim a = claim();
  a.value = "a";
  store().grant(a);
  store().release(a);
  store().grant(claim());
  EXPECT_EQ(holder("job")->value, "");
}

TEST_P(StoreAmend, ARenewalKeepsTheValue) {
  Claim a = claim();
  a.value = "a";
  store().grant(a);
  a.value = "b";
  store().amend(a);
  Claim old = a;
  old.value = "a";
  store().renew(old);
  EXPECT_EQ(holder("job")->value, "b");
}

TEST_P(StoreAmend, DoesNotMoveTheExpiry) {
  Claim a = claim("job", 300ms);
  const Instant asked = now();
  store().grant(a);
  pass(150ms);
  a.value = "a";
  EXPECT_TRUE(is_amended(store().amend(a)));
  const Instant freed = until_granted(claim());
  EXPECT_GE(freed + grain, asked + 300ms);
  EXPECT_LT(freed, asked + 700ms);
}

TEST_P(StoreAmend, IsForTheHolderAlone) {
  const Claim a = claim();
  EXPECT_TRUE(is_gone_as(store().amend(a), GoneReason::taken)) << "nobody holds it";
  EXPECT_FALSE(holder("job"));
  store().grant(a);
  const Claim b = claim();
  store().queue(b);
  EXPECT_TRUE(is_gone_as(store().amend(b), GoneReason::taken)) << "it waits";
  EXPECT_TRUE(is_gone_as(store().amend(claim()), GoneReason::taken));
  store().release(b);
  store().release(a);
  EXPECT_TRUE(is_gone_as(store().amend(a), GoneReason::taken)) << "given back";
}

TEST_P(StoreAmend, NotAfterTheEnd) {
  const Claim a = claim("job", 150ms);
  store().grant(a);
  const Claim b = claim();
  store().queue(b);
  pass(250ms);
  EXPECT_TRUE(is_gone_as(store().amend(a), GoneReason::taken));
  store().await_hand_off(b.owner);
}

TEST_P(StoreAmend, NotWhenBrokenOrReleased) {
  Claim a = claim();
  a.min_hold = 30s;
  store().grant(a);
  a.value = "late";
  store().break_name("job");
  EXPECT_TRUE(is_gone_as(store().amend(a), GoneReason::broken));
  EXPECT_EQ(holder("job")->value, "");
  store().release(a, {.keep_min_hold = true, .tombstone = false});
  EXPECT_TRUE(is_gone_as(store().amend(a), GoneReason::taken));
}

TEST_P(StoreAmend, OfAPermit) {
  HOLDFAST_STORE_KNOWS(permits);
  Claim a = permit(2);
  Claim b = permit(2);
  store().grant(a);
  store().grant(b);
  b.value = "b";
  EXPECT_TRUE(is_amended(store().amend(b)));
  const NameView view = store().inspect("pool");
  EXPECT_EQ(view.holders.at(0).value, "");
  EXPECT_EQ(view.holders.at(1).value, "b");
  EXPECT_EQ(view.holders.at(1).limit, 2U);
}

class StoreDowngrade : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    HOLDFAST_STORE_KNOWS(shared);
  }
};
HOLDFAST_ON_EVERY_STORE(StoreDowngrade);

TEST_P(StoreDowngrade, LetsInTheReadersThatComeNext) {
  const Claim w = claim();
  const Fence fence = store().grant(w).fence;
  const Claim a = reader();
  const Claim b = reader();
  const Claim w2 = claim();
  const Claim c = reader();
  for (const Claim& each : {a, b, w2, c}) {
    store().queue(each);
  }
  EXPECT_TRUE(is_amended(store().amend(as_reader(w))));
  EXPECT_EQ(store().await_hand_off(a.owner).floor, fence);
  EXPECT_EQ(store().await_hand_off(b.owner).floor, fence);
  EXPECT_EQ(holders("job"), (Owners{w.owner, a.owner, b.owner}));
  EXPECT_EQ(waiters("job"), (Owners{w2.owner, c.owner}));
  EXPECT_EQ(holder("job")->mode, Mode::shared);
  EXPECT_EQ(holder("job")->fence, fence);
}

TEST_P(StoreDowngrade, KeepsWritersOut) {
  const Claim w = claim();
  store().grant(w);
  const Claim w2 = claim();
  store().queue(w2);
  EXPECT_TRUE(is_amended(store().amend(as_reader(w))));
  store().busy(claim());
  EXPECT_EQ(waiters("job"), Owners{w2.owner});
  EXPECT_TRUE(is_renewed(store().renew(as_reader(w))));
  EXPECT_EQ(holder("job")->mode, Mode::shared) << "a renewal keeps the mode";
  store().release(w);
  store().await_hand_off(w2.owner);
}

TEST_P(StoreDowngrade, NewReadersMayEnter) {
  const Claim w = claim();
  const Fence fence = store().grant(w).fence;
  store().busy(reader());
  store().amend(as_reader(w));
  EXPECT_EQ(store().grant(reader()).floor, fence);
  EXPECT_EQ(store().grant(as_reader(w)).fence, fence);
}

TEST_P(StoreDowngrade, ThereIsNoUpgrade) {
  const Claim a = reader();
  store().grant(a);
  Claim wish = a;
  wish.mode = Mode::exclusive;
  wish.value = "upgraded";
  const AmendReply reply = store().amend(wish);
  const auto* failed = std::get_if<Failed>(&reply);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->code, make_error_code(errc::invalid_options));
  EXPECT_FALSE(failed->may_have_had_effect);
  EXPECT_EQ(holder("job")->mode, Mode::shared);
  EXPECT_EQ(holder("job")->value, "");
  store().grant(reader());
}

}  // namespace
}  // namespace holdfast::conformance

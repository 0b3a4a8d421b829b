// acquire_all(): all of the names or none.
#include "tests/conformance/store_test.hpp"

namespace holdfast::conformance {
namespace {

using Owners = std::vector<OwnerId>;

class StoreAll : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    HOLDFAST_STORE_KNOWS(at_once);
    if (const std::vector<Claim> all = three(); !place().open()->grants_at_once(all)) {
      GTEST_SKIP() << "not at once for names that do not live side by side";
    }
  }
  std::vector<Claim> three() { return {claim("c"), claim("a"), claim("b")}; }
};
HOLDFAST_ON_EVERY_STORE(StoreAll);

TEST_P(StoreAll, GrantsEach) {
  const std::vector<Claim> all = three();
  const AllGranted granted = store().grant_all(all);
  ASSERT_EQ(granted.size(), 3U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto held = holder(all[i].name);
    ASSERT_TRUE(held) << all[i].name;
    EXPECT_EQ(held->owner, all[i].owner);
    EXPECT_EQ(held->fence, granted[i].fence) << "answers are in the order of the claims";
    EXPECT_EQ(granted[i].floor, granted[i].fence);
    EXPECT_EQ(granted[i].ttl, 30s);
    EXPECT_EQ(held->who, all[i].who);
  }
}

TEST_P(StoreAll, OrNone) {
  const Claim other = claim("b");
  store().grant(other);
  const AllBusy busy = store().all_busy(three());
  EXPECT_EQ(busy.which, 2U);
  ASSERT_TRUE(busy.busy.holder);
  EXPECT_EQ(busy.busy.holder->owner, other.owner);
  EXPECT_GT(busy.busy.recheck_in, 29s);
  EXPECT_FALSE(holder("a"));
  EXPECT_FALSE(holder("c"));
  store().release(other);
  store().grant_all(three());
}

TEST_P(StoreAll, IsIdempotentForOurOwn) {
  const std::vector<Claim> all = three();
  const AllGranted first = store().grant_all(all);
  const AllGranted again = store().grant_all(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(again.at(i).fence, first.at(i).fence);
    EXPECT_EQ(again.at(i).floor, first.at(i).floor);
  }
}

TEST_P(StoreAll, TakesWhatIsMissing) {
  const std::vector<Claim> all = three();
  const Fence fence = store().grant(all[1]).fence;
  const AllGranted granted = store().grant_all(all);
  EXPECT_EQ(granted.at(1).fence, fence);
  EXPECT_EQ(holder("c")->owner, all[0].owner);
}

TEST_P(StoreAll, RefreshesOurOwn) {
  std::vector<Claim> all{claim("a", 300ms), claim("b", 300ms)};
  store().grant_all(all);
  pass(200ms);
  store().grant_all(all);
  pass(200ms);
  EXPECT_TRUE(holder("a"));
  EXPECT_TRUE(holder("b"));
}

TEST_P(StoreAll, LeavesOurOwnAloneWhenAnotherIsBusy) {
  std::vector<Claim> all{claim("a", 300ms), claim("b", 300ms)};
  store().grant(all[0]);
  store().grant(claim("b"));
  pass(200ms);
  EXPECT_EQ(store().all_busy(all).which, 1U);
  pass(200ms);
  EXPECT_FALSE(holder("a")) << "nothing half-held is kept alive";
}

TEST_P(StoreAll, OneNameIsAcquire) {
  const std::vector<Claim> one{claim("a")};
  const AllGranted granted = store().grant_all(one);
  EXPECT_EQ(store().grant(one[0]).fence, granted.at(0).fence);
  EXPECT_EQ(store().all_busy({claim("a")}).which, 0U);
}

TEST_P(StoreAll, FencesRise) {
  std::vector<Claim> all = three();
  const AllGranted first = store().grant_all(all);
  for (const Claim& each : all) {
    store().release(each);
  }
  all = three();
  const AllGranted next = store().grant_all(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_GT(next.at(i).fence, first.at(i).fence);
  }
}

TEST_P(StoreAll, DoesNotOvertakeAWaiter) {
  store().grant(claim("b", 150ms));
  const Claim waiting = claim("b");
  store().queue(waiting);
  pass(250ms);
  EXPECT_EQ(store().all_busy(three()).which, 2U);
  store().await_hand_off(waiting.owner);
  EXPECT_FALSE(holder("a"));
}

TEST_P(StoreAll, DoesNotPassAHeadThatNeedsMore) {
  HOLDFAST_STORE_KNOWS(permits);
  store().grant(permit(3, 2));
  store().queue(permit(3, 3));
  EXPECT_EQ(store().all_busy({claim("a"), permit(3)}).which, 1U);
  EXPECT_FALSE(holder("a"));
}

TEST_P(StoreAll, AContradictionIsRefused) {
  HOLDFAST_STORE_KNOWS(permits);
  store().grant(permit(3));
  const std::vector<Claim> all{claim("a"), permit(4)};
  const AcquireAllReply reply = store().acquire_all(all);
  const auto* failed = std::get_if<Failed>(&reply);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->code, make_error_code(errc::invalid_options));
  EXPECT_FALSE(failed->may_have_had_effect);
  EXPECT_NE(failed->detail.find("pool"), std::string::npos) << failed->detail;
  EXPECT_FALSE(holder("a"));
}

TEST_P(StoreAll, ReadersAndPermitsStandBesideOthers) {
  HOLDFAST_STORE_KNOWS(permits);
  HOLDFAST_STORE_KNOWS(shared);
  store().grant(reader());
  store().grant(permit(2));
  const std::vector<Claim> all{reader(), permit(2)};
  const AllGranted granted = store().grant_all(all);
  EXPECT_LT(granted.at(0).floor, granted.at(0).fence);
  EXPECT_LT(granted.at(1).floor, granted.at(1).fence);
  EXPECT_EQ(holders("job").size(), 2U);
  EXPECT_EQ(store().all_busy({reader(), permit(2)}).which, 1U);
}

TEST_P(StoreAll, ATombstoneRefusesAll) {
  const std::vector<Claim> all = three();
  store().withdraw(all[1], {.keep_min_hold = false, .tombstone = true});
  EXPECT_EQ(store().all_busy(all).which, 1U);
  EXPECT_FALSE(holder("c"));
}

TEST_P(StoreAll, WhatWasBrokenIsNotOurs) {
  const std::vector<Claim> all = three();
  store().grant_all(all);
  store().break_name("a");
  EXPECT_EQ(store().all_busy(all).which, 1U);
}

TEST_P(StoreAll, MinHoldIsEachOnesOwn) {
  std::vector<Claim> all{claim("a"), claim("b")};
  all[1].min_hold = 30s;
  store().grant_all(all);
  for (const Claim& each : all) {
    store().release(each, {.keep_min_hold = true, .tombstone = false});
  }
  store().grant(claim("a"));
  EXPECT_TRUE(store().busy(claim("b")).holder->released);
}

TEST_P(StoreAll, ManyAtOnce) {
  std::vector<Claim> all;
  for (int i = 0; i < 32; ++i) {
    all.push_back(claim("n/" + std::to_string(i)));
  }
  EXPECT_EQ(store().grant_all(all).size(), 32U);
  EXPECT_EQ(store().list_all("n/").size(), 32U);
  EXPECT_EQ(store().all_busy({claim("x"), claim("n/31")}).which, 1U);
}

}  // namespace
}  // namespace holdfast::conformance

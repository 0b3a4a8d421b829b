// Fences of one name rise with each grant, whatever happened in between.
#include "tests/conformance/store_test.hpp"

namespace holdfast::conformance {
namespace {

class StoreFence : public StoreTest {
 protected:
  // Grants the name to a new owner, checks that the fence rose, and gives it back.
  void once_more() {
    const Claim a = claim();
    const Fence fence = store().grant(a).fence;
    EXPECT_GT(fence, last_);
    last_ = fence;
    store().release(a);
  }

  Fence last_ = Fence::none;
};
HOLDFAST_ON_EVERY_STORE(StoreFence);

TEST_P(StoreFence, RisesWithEachGrant) {
  for (int i = 0; i < 50; ++i) {
    once_more();
  }
}

TEST_P(StoreFence, RisesThroughEveryInstance) {
  auto other = elsewhere();
  for (int i = 0; i < 10; ++i) {
    once_more();
    for (Speaker* speaker : {&second(), &other}) {
      const Claim a = claim();
      const Fence fence = speaker->grant(a).fence;
      EXPECT_GT(fence, last_);
      last_ = fence;
      speaker->release(a);
    }
  }
}

TEST_P(StoreFence, RisesAcrossExpiry) {
  last_ = store().grant(claim("job", 100ms)).fence;
  pass(150ms);
  once_more();
}

TEST_P(StoreFence, RisesAcrossHandOffAndBreak) {
  const Claim a = claim();
  const Claim b = claim();
  last_ = store().grant(a).fence;
  store().queue(b);
  store().break_name("job", BreakMode::now);
  const Fence handed = store().await_hand_off(b.owner).fence;
  EXPECT_GT(handed, last_);
  last_ = handed;
  store().break_name("job", BreakMode::now);
  once_more();
}

TEST_P(StoreFence, RisesAcrossTheCleanUpOfIdleNames) {
  once_more();
  for (int i = 0; i < 300; ++i) {
    const Claim a = claim("idle/" + std::to_string(i), 100ms);
    store().grant(a);
    if (i % 2 == 0) {
      store().release(a);
    }
  }
  pass(150ms);
  once_more();
}

TEST_P(StoreFence, RisesAfterTheLastStoreWasClosed) {
  once_more();
  store().close();
  if (!place().reopen()) {
    GTEST_SKIP() << "this place ends with its last store";
  }
  Speaker again{place().lane(), place().open(), Speaker::Listening::yes};
  EXPECT_GT(again.grant(claim()).fence, last_);
}

TEST_P(StoreFence, RisesAcrossARestart) {
  once_more();
  if (!place().restart()) {
    GTEST_SKIP() << "there is no server to restart";
  }
  Speaker again{place().lane(), place().open(), Speaker::Listening::yes};
  EXPECT_GT(again.grant(claim()).fence, last_);
}

TEST_P(StoreFence, RisesAfterAllWasWiped) {
  once_more();
  const Claim held = claim("held");
  store().grant(held);
  if (!place().wipe()) {
    GTEST_SKIP() << "nothing can be removed behind this store's back";
  }
  once_more();
  EXPECT_TRUE(is_gone(store().renew(held), GoneReason::taken));
}

}  // namespace
}  // namespace holdfast::conformance

// C10: the wall clock jumps while a lease is held, and the clocks of clients disagree. No client's
// wall clock may decide anything.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/fake_time.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/taker.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/required.hpp"
#include "tests/support/temp_dir.hpp"

#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C10 : public OnEveryStore {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("faketime", !fake_time_library().empty(), no_fake_time);
    OnEveryStore::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) {
      watcher_ = store().connect();
    }
  }

  std::unique_ptr<Taker> taker(const FakeClock& clock) {
    return std::make_unique<Taker>(
        store().url(),
        std::vector<std::string>{"--name", "job", "--ttl", std::to_string(ttl_ / 1ms) + "ms",
                                 "--hold", "forever"},
        TakerOptions{{}, clock.env()});
  }

  // For so long the record is `owner`'s, and its remaining time makes sense.
  void expect_held(const std::string& owner, Duration time) {
    const Instant end = BootClock::now() + time;
    while (BootClock::now() < end) {
      const NameView view = watcher_->inspect("job");
      ASSERT_EQ(view.holders.size(), 1U) << "the record is gone";
      ASSERT_EQ(view.holders[0].owner.text(), owner) << "somebody else got in";
      ASSERT_LE(view.holders[0].ttl_left, ttl_ + 250ms);
      std::this_thread::sleep_for(20ms);
    }
  }

  // `b` waits while `a` holds; then a is killed, and b gets in after the TTL, neither at once nor
  // much later.
  void expect_succession(const std::string& a_offset, const std::string& b_offset) {
    const FakeClock a_clock{dir_ / "a", a_offset};
    const FakeClock b_clock{dir_ / "b", b_offset};
    auto a = taker(a_clock);
    ASSERT_TRUE(a->await("granted")) << a->told();
    const std::string owner = a->owner();
    const std::int64_t fence = a->fence();
    const auto b = taker(b_clock);
    ASSERT_TRUE(b->await("waiting")) << b->told();
    expect_held(owner, short_or_full<Duration>(3s, 30s));
    const Duration left = watcher_->inspect("job").holders.at(0).ttl_left;
    a.reset();
    const Instant killed = BootClock::now();
    ASSERT_TRUE(b->await("granted", 20s)) << b->told();
    const Duration took = BootClock::now() - killed;
    EXPECT_GE(took, left - 250ms);
    EXPECT_LE(took, ttl_ + 1s);
    EXPECT_GT(b->fence(), fence);
    b->order("release");
    EXPECT_TRUE(b->await("released ok")) << b->told();
    figure("C10 ", GetParam(), " a", a_offset, " b", b_offset, ": in_after_kill_ms=", ms(took));
  }

  const Duration ttl_ = short_or_full<Duration>(2s, 5s);
  test::TempDir dir_{};
  std::unique_ptr<Client> watcher_{};
};

TEST_P(C10, JumpsOfTheHoldersClock) {
  FakeClock clock{dir_ / "clock"};
  const auto a = taker(clock);
  ASSERT_TRUE(a->await("granted")) << a->told();
  const std::string owner = a->owner();
  expect_held(owner, short_or_full<Duration>(1s, 10s));
  clock.set("+1h");
  expect_held(owner, short_or_full<Duration>(3s, 15s));
  clock.set("-2h");
  expect_held(owner, short_or_full<Duration>(3s, 15s));
  EXPECT_FALSE(a->await("lost", 1ms)) << a->told();
  a->order("release");
  EXPECT_TRUE(a->await("released ok")) << a->told();
}

TEST_P(C10, AWaiterWhoseClockIsFast) { expect_succession("+0", "+1h"); }
TEST_P(C10, AHolderWhoseClockIsSlow) { expect_succession("-1h", "+0"); }

CASE_ON_SHARED_STORES(C10);

}  // namespace
}  // namespace holdfast::chaos

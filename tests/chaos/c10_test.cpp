// C10: the wall clock jumps while a lease is held, and the clocks of clients disagree. No client's
// wall clock may decide anything.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/fake_time.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/taker.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/required.hpp"
#include "tests/support/temp_dir.hpp"

#include <algorithm>
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

  using Words = std::vector<std::string>;
  std::unique_ptr<Taker> taker(const FakeClock& clock, const Words& use = {}) {
    Words words{"--name", "job", "--ttl", std::to_string(ttl_ / 1ms) + "ms", "--hold", "forever"};
    words.insert(words.end(), use.begin(), use.end());
    return std::make_unique<Taker>(store().url(), words, TakerOptions{{}, clock.env()});
  }

  // For so long these two are inside, nobody else, and their remaining times make sense.
  void expect_both_held(const std::string& a, const std::string& b, Duration time) {
    const Instant end = BootClock::now() + time;
    while (BootClock::now() < end) {
      const NameView view = watcher_->inspect("job");
      ASSERT_EQ(view.holders.size(), 2U);
      ASSERT_EQ(view.holders[0].owner.text(), a);
      ASSERT_EQ(view.holders[1].owner.text(), b);
      ASSERT_LE(std::max(view.holders[0].ttl_left, view.holders[1].ttl_left), ttl_ + 250ms);
      std::this_thread::sleep_for(20ms);
    }
  }

  // Two are inside, both with wrong clocks; `c` waits for one of them, which is killed.
  void expect_third(const Words& use, const Words& third, std::size_t to_kill) {
    const FakeClock slow{dir_ / "slow", "-1h"};
    const FakeClock right{dir_ / "right", "+0"};
    const FakeClock fast{dir_ / "fast", "+1h"};
    std::vector<std::unique_ptr<Taker>> holders;
    holders.push_back(taker(slow, use));
    ASSERT_TRUE(holders[0]->await("granted")) << holders[0]->told();
    holders.push_back(taker(fast, use));
    ASSERT_TRUE(holders[1]->await("granted")) << holders[1]->told();
    const auto c = taker(right, third);
    ASSERT_TRUE(c->await("waiting")) << c->told();
    expect_both_held(holders[0]->owner(), holders[1]->owner(), short_or_full<Duration>(3s, 30s));
    const Duration left = watcher_->inspect("job").holders.at(to_kill).ttl_left;
    holders[to_kill].reset();
    const Instant killed = BootClock::now();
    ASSERT_TRUE(c->await("granted", 20s)) << c->told();
    const Duration took = BootClock::now() - killed;
    EXPECT_GE(took, left - 250ms);
    EXPECT_LE(took, ttl_ + 1s);
    EXPECT_FALSE(holders[1 - to_kill]->await("lost", 1ms));
    figure("C10 ", GetParam(), " ", third.empty() ? "lock" : third.front(), " killed=", to_kill,
           ": in_after_kill_ms=", ms(took));
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

// Of a semaphore with limit 2, and of readers: each hold ends by the store's clock alone.
TEST_P(C10, PermitsOfClientsWhoseClocksDisagree) {
  const Words pool{"--limit", "2"};
  expect_third(pool, pool, 0);
}
TEST_P(C10, PermitsTheFastOneDies) {
  const Words pool{"--limit", "2"};
  expect_third(pool, pool, 1);
}
TEST_P(C10, AWriterBehindReadersWhoseClocksDisagree) {
  const FakeClock slow{dir_ / "slow", "-1h"};
  const FakeClock fast{dir_ / "fast", "+1h"};
  auto a = taker(slow, {"--shared"});
  ASSERT_TRUE(a->await("granted")) << a->told();
  auto b = taker(fast, {"--shared"});
  ASSERT_TRUE(b->await("granted")) << b->told();
  const auto writer = taker(fast);
  ASSERT_TRUE(writer->await("waiting")) << writer->told();
  expect_both_held(a->owner(), b->owner(), short_or_full<Duration>(3s, 30s));
  a.reset();
  EXPECT_FALSE(writer->await("granted", ttl_ + 500ms)) << "the other reader is alive";
  EXPECT_EQ(watcher_->inspect("job").holders.size(), 1U);
  b.reset();
  EXPECT_TRUE(writer->await("granted", ttl_ + 1s)) << writer->told();
}

CASE_ON_SHARED_STORES(C10);

}  // namespace
}  // namespace holdfast::chaos

// C16: the wake-up is lost, or the holder dies without one. Wake-ups are hints: nobody may wait
// for them alone.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/lock_form.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/taker.hpp"
#include "tests/chaos/test_store.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

constexpr Duration poll_bound = 2s;  // documented: no waiter looks away for longer

class C16Wakeups : public OnEveryForm {};

// Hand-overs at full speed: a release may fall anywhere, also between the other's try and its
// listening.
TEST_P(C16Wakeups, HandOversAtFullSpeed) {
  const int rounds = short_or_full(500, 10'000);
  const auto a = store().connect();
  const auto b = store().connect();
  std::mutex mutex;
  std::vector<Duration> gaps;
  std::atomic<Instant> released{};
  std::atomic<int> count{0};
  const auto play = [&](Client& client, Part part, unsigned seed) {
    const auto lock = make_lock(client, "ball", form(), part, {.ttl = 30s});
    while (count < rounds) {
      Lease lease = lock->acquire({.timeout = 30s});
      const Instant got = BootClock::now();
      const Instant left = released.exchange(Instant{});
      if (left != Instant{}) {
        const std::lock_guard guard{mutex};
        gaps.push_back(got - left);
      }
      ++count;
      seed = seed * 1664525 + 1013904223;
      std::this_thread::sleep_for(std::chrono::microseconds{seed >> 22});  // up to 1 ms
      released = BootClock::now();
      lease.release();
    }
  };
  std::jthread first{[&] { play(*a, Part::in_the_way, 1); }};
  play(*b, Part::tried, 2);
  first.join();
  ASSERT_GT(gaps.size(), 100U);
  std::ranges::sort(gaps);
  const Duration p99 = gaps[gaps.size() * 99 / 100];
  EXPECT_LE(gaps.back(), poll_bound + 250ms);
  EXPECT_LT(p99, 100ms);
  figure("C16 ", GetParam(), " hand-overs=", gaps.size(), " median_ms=", ms(gaps[gaps.size() / 2]),
         " p99_ms=", ms(p99), " max_ms=", ms(gaps.back()));
}

CASE_ON_EVERY_FORM(C16Wakeups);

class C16Crash : public OnEveryStore {};

TEST_P(C16Crash, TheHolderDiesWithoutAWord) {
  Taker a{store().url(), {"--name", "job", "--ttl", "3s", "--hold", "forever"}};
  ASSERT_TRUE(a.await("granted")) << a.told();
  Taker b{store().url(), {"--name", "job", "--ttl", "3s", "--hold", "forever"}};
  ASSERT_TRUE(b.await("waiting")) << b.told();
  a.process().signal(SIGKILL);
  const Instant killed = BootClock::now();
  ASSERT_TRUE(b.await("granted")) << b.told();
  const Duration took = BootClock::now() - killed;
  EXPECT_LE(took, 3s + 1s);
  figure("C16 ", GetParam(), " killed: in_after_ms=", ms(took));
}

CASE_ON_SHARED_STORES(C16Crash);

}  // namespace
}  // namespace holdfast::chaos

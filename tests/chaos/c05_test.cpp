// C05: the store goes silent instead of refusing. The holder's own clock must end the lease before
// the store can give it away; a lease that the store took away is noticed within one renewal.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/contender.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/temp_dir.hpp"

#include <future>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

// The end of trust that the last confirmed renewal bought.
class LastTrust final : public Observer {
 public:
  void on_event(const Event& event) override {
    if (event.kind == Event::Kind::granted || event.kind == Event::Kind::renewed) {
      until_ = event.until;
    }
  }
  Instant until() const { return until_; }

 private:
  std::atomic<Instant> until_{};
};

class C05Library : public OnEveryStore {
 protected:
  static constexpr Duration ttl = 4s;
  static constexpr Duration margin = ttl / 10 + ttl / 1000;  // the documented one

  test::TempDir dir_{};
  test::OverlapLog log_{dir_ / "overlap.log"};
};

TEST_P(C05Library, SilentStore) {
  LastTrust trust;
  const auto link = store().link();
  const auto a = link->connect({.observer = &trust});
  const auto b = store().connect();
  Mutex mutex{*a, "job", {.ttl = ttl}};
  Lease lease = mutex.acquire({.timeout = 5s});
  std::promise<void> lost;
  std::stop_callback on_lost{lease.lost(), [&] { lost.set_value(); }};
  LossLog mine{lease, log_};
  Contender contender{*b, "job", {.ttl = ttl}, 20ms, log_};
  std::this_thread::sleep_for(2s);
  ASSERT_EQ(mine.losses(), 0);
  link->fault(Fault::blackhole);
  ASSERT_EQ(lost.get_future().wait_for(2 * ttl), std::future_status::ready);
  const Instant expiry = trust.until() + margin;  // L + T
  EXPECT_EQ(lease.why_lost(), errc::expired);
  EXPECT_FALSE(lease.valid());
  // 100 ms of the margin are for the load that other tests put on this machine.
  EXPECT_LE(mine.told_at(), trust.until() + 100ms) << "told after the end of trust";
  EXPECT_GE(mine.told_at(), trust.until() - 250ms) << "given up although trust was left";
  while (contender.grants() == 0 && BootClock::now() < expiry + 5s) {
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_GE(contender.grants(), 1);
  link->fault(Fault::pass);
  link->reset();
  contender.stop();
  EXPECT_EQ(mine.losses(), 1);
  EXPECT_EQ(log_.check(), "");
  figure("C05 ", GetParam(), " silent: told_before_expiry_ms=", ms(expiry - mine.told_at()));
}

TEST_P(C05Library, TakenAwayInTheStore) {
  const auto a = store().connect();
  const auto b = store().connect();
  Mutex mutex{*a, "job", {.ttl = ttl}};
  Lease lease = mutex.acquire({.timeout = 5s});
  std::promise<void> lost;
  std::stop_callback on_lost{lease.lost(), [&] { lost.set_value(); }};
  LossLog mine{lease, log_};
  std::this_thread::sleep_for(short_or_full(500ms, 2000ms));
  const Instant erased = BootClock::now();
  store().erase("job");
  Mutex theirs{*b, "job", {.ttl = ttl}};
  Lease next = theirs.acquire({.timeout = 10s});
  ASSERT_EQ(lost.get_future().wait_for(2 * ttl), std::future_status::ready);
  EXPECT_LE(mine.told_at() - erased, ttl / 3 + 250ms);
  EXPECT_TRUE(lease.why_lost() == errc::taken || lease.why_lost() == errc::broken)
      << lease.why_lost().message();
  EXPECT_GT(next.fence(), lease.fence()) << "the guard could not tell them apart";
  EXPECT_TRUE(next.valid());
  figure("C05 ", GetParam(), " taken: noticed_after_ms=", ms(mine.told_at() - erased));
}

CASE_ON_EVERY_STORE(C05Library);

}  // namespace
}  // namespace holdfast::chaos

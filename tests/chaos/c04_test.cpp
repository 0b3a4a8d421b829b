// C04: one failed renewal must neither stop renewing for good nor poison the next hold of the same
// name, and a lease that was won on a later try is renewed as any other.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/contender.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/temp_dir.hpp"

#include <optional>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C04 : public OnEveryStore {
 protected:
  // The full form's times are for T = 3 s; the short form has T = 1.5 s and scales the rest.
  const Duration ttl_ = short_or_full<Duration>(1500ms, 3s);
  Duration scaled(Duration full) const { return full * (ttl_ / 1ms) / 3000; }
  const Duration hold_ = short_or_full<Duration>(scaled(6s), 15s);

  // Holds on for `hold`; all the while the record must be ours.
  void expect_held(const Lease& lease, Duration hold) {
    const Instant end = BootClock::now() + hold;
    while (BootClock::now() < end && lease.valid()) {
      const NameView view = observer_->inspect("job");
      ASSERT_EQ(view.holders.size(), 1U) << "the key is gone";
      ASSERT_EQ(view.holders[0].owner, lease.owner());
      std::this_thread::sleep_for(50ms);
    }
    EXPECT_TRUE(lease.valid()) << lease.why_lost().message();
  }

  void SetUp() override {
    OnEveryStore::SetUp();
    if (IsSkipped() || HasFatalFailure()) {
      return;
    }
    link_ = store().link();
    a_ = link_->connect();
    b_ = store().connect();
    observer_ = store().connect();
  }

  test::TempDir dir_{};
  test::OverlapLog log_{dir_ / "overlap.log"};
  std::unique_ptr<Link> link_{};
  std::unique_ptr<Client> a_{};
  std::unique_ptr<Client> b_{};
  std::unique_ptr<Client> observer_{};
};

TEST_P(C04, ShortOutageCostsNothing) {
  Mutex mutex{*a_, "job", {.ttl = ttl_}};
  Lease lease = mutex.acquire({.timeout = 5s});
  LossLog mine{lease, log_};
  Contender contender{*b_, "job", {.ttl = ttl_}, 20ms, log_};
  expect_held(lease, scaled(1200ms));
  const std::uint64_t before = a_->counters().renewed;
  link_->fault(Fault::refuse);
  link_->reset();
  expect_held(lease, scaled(1400ms));
  link_->fault(Fault::pass);
  const Instant back = BootClock::now();
  while (a_->counters().renewed == before && lease.valid()) {
    std::this_thread::sleep_for(1ms);
  }
  const Duration renewed_after = BootClock::now() - back;
  expect_held(lease, hold_ - scaled(2600ms));
  EXPECT_EQ(mine.losses(), 0);
  EXPECT_EQ(a_->counters().lost, 0U);
  EXPECT_LE(renewed_after, ttl_ / 3) << "retries come no faster than renewals";
  mine.leave();
  lease.release();
  contender.stop();
  EXPECT_EQ(log_.check(), "");
  figure("C04 ", GetParam(), " outage: renewed_after_ms=", ms(renewed_after),
         " failed=", a_->counters().renewals_failed, " contender=", contender.grants());
}

TEST_P(C04, TheNextHoldAfterALossIsRenewed) {
  Mutex mutex{*a_, "job", {.ttl = ttl_}};
  std::optional<Lease> lease = mutex.acquire({.timeout = 5s});
  std::optional<LossLog> mine{std::in_place, *lease, log_};
  Contender contender{*b_, "job", {.ttl = ttl_}, 20ms, log_};
  expect_held(*lease, scaled(1200ms));
  link_->fault(Fault::refuse);
  link_->reset();
  Instant trusted = lease->trusted_until();
  const Instant outage = BootClock::now();
  while (BootClock::now() < outage + scaled(6s)) {
    if (mine->losses() == 0) {
      trusted = lease->trusted_until();
    }
    std::this_thread::sleep_for(1ms);
  }
  link_->fault(Fault::pass);
  EXPECT_EQ(mine->losses(), 1);
  EXPECT_EQ(lease->why_lost(), errc::expired);
  EXPECT_LE(mine->told_at(), trusted + 250ms);
  EXPECT_EQ(a_->counters().lost, 1U);
  const Fence lost = lease->fence();
  mine.reset();
  lease.reset();

  lease = mutex.acquire({.timeout = 10s});
  mine.emplace(*lease, log_);
  EXPECT_GT(lease->fence(), lost);
  expect_held(*lease, hold_);
  EXPECT_EQ(mine->losses(), 0);
  EXPECT_EQ(a_->counters().lost, 1U);
  mine->leave();
  lease->release();
  contender.stop();
  EXPECT_GE(contender.grants(), 1);
  EXPECT_EQ(log_.check(), "");
}

TEST_P(C04, WonOnALaterTry) {
  Mutex theirs{*b_, "job", {.ttl = ttl_}};
  Lease first = theirs.acquire({.timeout = 5s});
  std::jthread releaser{[&] {
    while (observer_->inspect("job").waiters.empty()) {
      std::this_thread::sleep_for(1ms);
    }
    first.release();
  }};
  Mutex mutex{*a_, "job", {.ttl = ttl_}};
  Lease lease = mutex.acquire({.timeout = 10s});
  releaser.join();
  LossLog mine{lease, log_};
  Contender contender{*b_, "job", {.ttl = ttl_}, 20ms, log_};
  expect_held(lease, hold_);
  EXPECT_EQ(mine.losses(), 0);
  EXPECT_GE(a_->counters().renewed, static_cast<std::uint64_t>(hold_ / ttl_));
  mine.leave();
  lease.release();
  contender.stop();
  EXPECT_EQ(log_.check(), "");
}

CASE_ON_EVERY_STORE(C04);

}  // namespace
}  // namespace holdfast::chaos

// Lease: how long it may be trusted, how it is lost, how it is given back.
#include "tests/conformance/client_test.hpp"

#include <set>
#include <thread>

namespace holdfast::conformance {
namespace {

class MutexLease : public ClientTest {};
HOLDFAST_ON_EVERY_CLIENT(MutexLease);

TEST_P(MutexLease, TellsWhatItIs) {
  Mutex mutex{client(), "job", {.ttl = 20s, .note = "nightly"}};
  const Instant asked = BootClock::now();
  const Lease lease = mutex.acquire();
  EXPECT_TRUE(lease);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(lease.name(), "job");
  EXPECT_EQ(lease.ttl(), 20s);
  EXPECT_GT(lease.fence(), Fence::none);
  EXPECT_EQ(lease.floor(), lease.fence());
  EXPECT_GE(lease.trusted_until(), asked + 20s - 2100ms);
  EXPECT_LT(lease.trusted_until(), BootClock::now() + 20s - 1900ms);
  EXPECT_FALSE(lease.lost().stop_requested());
  EXPECT_FALSE(lease.why_lost());
  const Holder seen = other().inspect("job").holders.at(0);
  EXPECT_EQ(seen.owner, lease.owner());
  EXPECT_EQ(seen.fence, lease.fence());
  EXPECT_EQ(seen.who, (Who{"here", getpid(), "nightly"}));
}

TEST_P(MutexLease, NothingIsHeldByAnEmptyOne) {
  Lease empty;
  std::error_code ec = errc::busy;
  empty.release(ec);
  EXPECT_FALSE(ec);
  empty.abandon();
  empty.report_stale();
  EXPECT_FALSE(empty);
  EXPECT_FALSE(empty.valid());
  EXPECT_EQ(empty.fence(), Fence::none);
  EXPECT_EQ(empty.name(), "");
  EXPECT_FALSE(empty.lost().stop_possible());
}

TEST_P(MutexLease, EveryAttemptIsAnOwnerOfItsOwn) {
  Mutex mutex{client(), "job"};
  std::set<OwnerId> owners;
  for (int i = 0; i < 20; ++i) {
    owners.insert(mutex.acquire().owner());
  }
  EXPECT_EQ(owners.size(), 20U);
}

TEST_P(MutexLease, IsRenewedInTheBackground) {
  Mutex mutex{client(), "job", {.ttl = 600ms}};
  const Lease lease = mutex.acquire();
  const Instant first = lease.trusted_until();
  EXPECT_TRUE(recorder().await(Event::Kind::renewed, 4));
  EXPECT_GT(lease.trusted_until(), first + 600ms);
  EXPECT_TRUE(lease.valid());
  EXPECT_FALSE(Mutex(other(), "job").try_acquire());
}

TEST_P(MutexLease, ItsEndOfScopeReleases) {
  Mutex mutex{client(), "job"};
  { const Lease lease = mutex.acquire(); }
  EXPECT_TRUE(is_free("job"));
  Lease lease = mutex.acquire();
  Lease moved = std::move(lease);
  EXPECT_FALSE(lease);  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_TRUE(moved.valid());
  moved = Lease{};
  EXPECT_TRUE(is_free("job"));
}

TEST_P(MutexLease, ReleaseIsIdempotentAndNeverALoss) {
  Mutex mutex{client(), "job"};
  Lease lease = mutex.acquire();
  const Loss loss{lease};
  lease.release();
  EXPECT_FALSE(lease.valid());
  EXPECT_FALSE(lease);
  lease.release();
  EXPECT_TRUE(recorder().await(Event::Kind::released));
  EXPECT_FALSE(loss.told());
}

TEST_P(MutexLease, AbandonedItStaysUntilItsTtl) {
  Mutex mutex{client(), "job", {.ttl = 400ms}};
  Lease lease = mutex.acquire();
  const Instant until = lease.trusted_until();
  const Loss loss{lease};
  lease.abandon();
  EXPECT_FALSE(is_free("job"));
  const Lease next = Mutex(other(), "job").acquire({.timeout = 5s});
  EXPECT_GE(BootClock::now(), until);
  EXPECT_FALSE(loss.told());
  EXPECT_EQ(client().counters().held, 0U);
}

TEST_P(MutexLease, FixedItEndsInTime) {
  Mutex mutex{client(), "job", {.ttl = 400ms, .safety_margin = 190ms, .renew = false}};
  const Lease lease = mutex.acquire();
  const Instant until = lease.trusted_until();
  Loss loss{lease};
  const auto told = loss.await();
  ASSERT_TRUE(told);
  // The bound is `until`; a busy machine may delay the thread that tells, and has the margin for
  // it.
  EXPECT_LT(*told, until + 190ms);
  EXPECT_GT(*told, until - 100ms);
  EXPECT_FALSE(lease.valid());
  EXPECT_EQ(lease.why_lost(), errc::expired);
  EXPECT_EQ(lease.why_lost(), failure::ownership_lost);
  EXPECT_EQ(recorder().count(Event::Kind::renewed), 0U);
  EXPECT_TRUE(test::eventually([&] { return is_free("job"); }, 2s));
}

TEST_P(MutexLease, MaxHoldEndsIt) {
  Mutex mutex{client(), "job", {.ttl = 600ms, .max_hold = 900ms}};
  const Instant asked = BootClock::now();
  const Lease lease = mutex.acquire();
  Loss loss{lease};
  ASSERT_TRUE(loss.await());
  EXPECT_EQ(lease.why_lost(), errc::max_hold);
  EXPECT_GT(BootClock::now() - asked, 600ms) << "it was renewed before";
  EXPECT_GE(recorder().count(Event::Kind::renewed), 1U);
}

TEST_P(MutexLease, MinHoldKeepsOthersOutAfterTheRelease) {
  Mutex ours{client(), "job", {.min_hold = 500ms}};
  Mutex theirs{other(), "job"};
  Lease lease = ours.acquire();
  const Instant granted = BootClock::now();
  lease.release();
  EXPECT_FALSE(theirs.try_acquire());
  const Lease next = theirs.acquire({.timeout = 5s});
  EXPECT_GT(BootClock::now() + 50ms, granted + 500ms);
}

TEST_P(MutexLease, BrokenItIsTold) {
  listen();
  Mutex mutex{client(), "job"};
  Lease lease = Async{mutex, {}}.get().lease;
  Loss loss{lease};
  EXPECT_EQ(other().break_name("job").holders.size(), 1U);
  // At the latest with the next renewal; a store that tells is faster than that.
  ASSERT_TRUE(loss.await()) << "told at once, not after 10 s";
  EXPECT_EQ(lease.why_lost(), errc::broken);
  EXPECT_FALSE(is_free("job")) << "until the holder answered";
  std::error_code ec;
  lease.release(ec);
  EXPECT_EQ(ec, errc::broken);
  EXPECT_TRUE(is_free("job"));
}

TEST_P(MutexLease, TakenItIsTold) {
  Mutex mutex{client(), "job", {.ttl = 600ms}};
  Lease lease = mutex.acquire();
  Loss loss{lease};
  other().break_name("job", BreakMode::now);
  const Lease theirs = Mutex(other(), "job").acquire({.timeout = 5s});
  ASSERT_TRUE(loss.await());
  EXPECT_EQ(lease.why_lost(), errc::taken);
  EXPECT_GT(theirs.fence(), lease.fence());
  std::error_code ec;
  lease.release(ec);
  EXPECT_EQ(ec, errc::taken);
  EXPECT_TRUE(theirs.valid());
  EXPECT_EQ(other().inspect("job").holders.at(0).owner, theirs.owner());
  EXPECT_EQ(client().counters().overlaps, 1U);
}

TEST_P(MutexLease, ReleasedTooLateItSaysSo) {
  Mutex mutex{client(), "job"};
  Lease lease = mutex.acquire();
  other().break_name("job", BreakMode::now);
  const Lease theirs = Mutex(other(), "job").acquire({.timeout = 5s});
  std::error_code ec;
  lease.release(ec);
  EXPECT_TRUE(ec == errc::not_owner || ec == errc::taken) << ec.message();
  EXPECT_EQ(ec, failure::ownership_lost);
  EXPECT_TRUE(theirs.valid());
}

TEST_P(MutexLease, AStaleFenceEndsTrustAtOnce) {
  Mutex mutex{client(), "job"};
  Lease lease = mutex.acquire();
  Loss loss{lease};
  lease.report_stale();
  EXPECT_FALSE(lease.valid());
  ASSERT_TRUE(loss.await());
  EXPECT_EQ(lease.why_lost(), errc::stale_fence);
}

TEST_P(MutexLease, ItsStopCallbacksMayBlockAndUseTheClient) {
  Mutex mutex{client(), "job", {.ttl = 300ms, .renew = false}};
  const Lease lease = mutex.acquire();
  std::promise<bool> ended;
  const std::stop_callback on_lost{lease.lost(), [&] {
                                     std::error_code ec;
                                     Mutex inner{client(), "inner"};
                                     const Lease nested = inner.acquire({.timeout = 5s}, ec);
                                     ended.set_value(nested.valid());
                                   }};
  EXPECT_TRUE(ended.get_future().get());
}

TEST_P(MutexLease, ManyAtOnceAreAllRenewed) {
  std::vector<Lease> leases;
  Mutex first{client(), "many/0", {.ttl = 1s}};
  for (int i = 0; i < 50; ++i) {
    leases.push_back(
        Mutex(client(), "many/" + std::to_string(i), {.ttl = 1500ms}).acquire({.timeout = 5s}));
  }
  EXPECT_TRUE(recorder().await(Event::Kind::renewed, 150));
  for (const Lease& lease : leases) {
    EXPECT_TRUE(lease.valid()) << lease.name();
  }
  EXPECT_EQ(client().counters().held, 50U);
}

}  // namespace
}  // namespace holdfast::conformance

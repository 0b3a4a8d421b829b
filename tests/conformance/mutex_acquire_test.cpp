// Mutex: granted or not, blocking and asynchronous, and how waits end.
#include "tests/conformance/client_test.hpp"

#include <thread>

namespace holdfast::conformance {
namespace {

class MutexAcquire : public ClientTest {};
HOLDFAST_ON_EVERY_CLIENT(MutexAcquire);

TEST_P(MutexAcquire, ExcludesAndFencesRise) {
  Mutex ours{client(), "job"};
  Mutex theirs{other(), "job"};
  Fence last = Fence::none;
  for (int round = 0; round < 20; ++round) {
    Lease lease = (round % 2 == 0 ? ours : theirs).acquire();
    ASSERT_TRUE(lease.valid());
    ASSERT_GT(lease.fence(), last);
    last = lease.fence();
    ASSERT_FALSE(ours.try_acquire().has_value());
    ASSERT_FALSE(theirs.try_acquire().has_value());
    lease.release();
  }
}

TEST_P(MutexAcquire, BusyIsAnAnswer) {
  Mutex ours{client(), "job"};
  Mutex theirs{other(), "job"};
  const Lease held = theirs.acquire();
  std::error_code ec = errc::closed;
  EXPECT_FALSE(ours.try_acquire());
  EXPECT_FALSE(ours.try_acquire(ec));
  EXPECT_FALSE(ec);
  EXPECT_FALSE(ours.acquire({.timeout = 0s}, ec));
  EXPECT_EQ(ec, errc::busy);
  EXPECT_FALSE(ours.acquire({.timeout = -1s}, ec));
  EXPECT_EQ(ec, errc::busy) << "no time is one attempt";
  EXPECT_FALSE(ours.acquire({.timeout = Duration::min()}, ec));
  EXPECT_EQ(ec, errc::busy);
  try {
    const Lease lease = ours.acquire({.timeout = 0s});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::busy);
    EXPECT_EQ(error.code(), failure::not_acquired);
  }
  EXPECT_TRUE(other().inspect("job").waiters.empty());
}

TEST_P(MutexAcquire, TimesOut) {
  Mutex ours{client(), "job"};
  Mutex theirs{other(), "job"};
  const Lease held = theirs.acquire();
  const Instant asked = BootClock::now();
  std::error_code ec;
  EXPECT_FALSE(ours.acquire({.timeout = 200ms}, ec));
  EXPECT_EQ(ec, errc::timed_out);
  EXPECT_EQ(ec, failure::not_acquired);
  EXPECT_GE(BootClock::now() - asked, 200ms);
  EXPECT_LT(BootClock::now() - asked, 2s);
  EXPECT_TRUE(await_waiters("job", 0)) << "a wait that ended leaves no place behind";
}

TEST_P(MutexAcquire, EndlessTimeoutsDoNotOverflow) {
  Mutex ours{client(), "job"};
  std::error_code ec;
  EXPECT_TRUE(ours.acquire({.timeout = Duration::max()}, ec));
  EXPECT_TRUE(ours.acquire({.timeout = 24h * 365 * 200}, ec));
}

TEST_P(MutexAcquire, IsCancelledByItsStopToken) {
  Mutex ours{client(), "job"};
  Mutex theirs{other(), "job"};
  const Lease held = theirs.acquire();
  std::stop_source stop;
  const std::jthread canceller{[&] {
    EXPECT_TRUE(await_waiters("job", 1));
    stop.request_stop();
  }};
  std::error_code ec;
  EXPECT_FALSE(ours.acquire({.timeout = 30s, .stop = stop.get_token()}, ec));
  EXPECT_EQ(ec, errc::cancelled);
  EXPECT_FALSE(ours.acquire({.timeout = 30s, .stop = stop.get_token()}, ec));
  EXPECT_EQ(ec, errc::cancelled) << "asked to stop before it began";
  EXPECT_TRUE(await_waiters("job", 0));
}

TEST_P(MutexAcquire, IsHandedTheNameInOrder) {
  Mutex ours{client(), "job"};
  Mutex theirs{other(), "job"};
  Lease held = ours.acquire();
  Async second{theirs, {}};
  ASSERT_TRUE(await_waiters("job", 1));
  Async third{ours, {}};
  ASSERT_TRUE(await_waiters("job", 2));
  const Fence first_fence = held.fence();
  const Instant released = BootClock::now();
  held.release();
  Lease next = second.get().lease;
  EXPECT_LT(BootClock::now() - released, 1s) << "told, not found out by looking again";
  EXPECT_GT(next.fence(), first_fence);
  EXPECT_FALSE(third.ready());
  const Fence second_fence = next.fence();
  next.release();
  EXPECT_GT(third.get().lease.fence(), second_fence);
}

TEST_P(MutexAcquire, ATryDoesNotOvertakeAWaiter) {
  Mutex ours{client(), "job", {.ttl = 300ms, .renew = false}};
  Mutex theirs{other(), "job"};
  Lease held = ours.acquire();
  Async waiting{theirs, {}};
  ASSERT_TRUE(await_waiters("job", 1));
  held.abandon();
  while (!waiting.ready()) {
    EXPECT_FALSE(ours.try_acquire());
  }
  EXPECT_FALSE(waiting.get().code);
}

TEST_P(MutexAcquire, WakesWhenTheHolderIsGone) {
  Mutex ours{client(), "job"};
  Mutex theirs{other(), "job", {.ttl = 300ms}};
  Lease held = theirs.acquire();
  held.abandon();
  const Instant asked = BootClock::now();
  const Lease lease = ours.acquire({.timeout = 5s});
  EXPECT_LT(BootClock::now() - asked, 1500ms) << "from what is left of its TTL, not by polling";
}

TEST_P(MutexAcquire, AsynchronousEnds) {
  Mutex ours{client(), "job"};
  Mutex theirs{other(), "job"};
  Async granted{ours, {.timeout = 5s}};
  Async::Answer held = granted.get();
  EXPECT_FALSE(held.code);
  EXPECT_TRUE(held.lease.valid());
  EXPECT_EQ((Async{theirs, {.timeout = 0s}}.get().code), errc::busy);
  EXPECT_EQ((Async{theirs, {.timeout = 100ms}}.get().code), errc::timed_out);
  std::stop_source stop;
  Async stopped{theirs, {.timeout = {}, .stop = stop.get_token()}};
  Async cancelled{theirs, {}};
  ASSERT_TRUE(await_waiters("job", 2));
  stop.request_stop();
  EXPECT_EQ(stopped.get().code, errc::cancelled);
  cancelled.cancel();
  cancelled.cancel();
  const Async::Answer answer = cancelled.get();
  EXPECT_EQ(answer.code, errc::cancelled);
  EXPECT_FALSE(answer.lease);
  EXPECT_TRUE(await_waiters("job", 0));
}

TEST_P(MutexAcquire, AnAlreadyStoppedAsynchronousWaitEnds) {
  Mutex ours{client(), "job"};
  Mutex theirs{other(), "job"};
  const Lease held = theirs.acquire();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ((Async{ours, {.timeout = {}, .stop = stop.get_token()}}.get().code), errc::cancelled);
}

TEST_P(MutexAcquire, AHandlersLeaseThatNobodyKeepsIsReleased) {
  Mutex ours{client(), "job"};
  std::promise<void> called;
  ours.start_acquire({}, [&](std::error_code, Lease) { called.set_value(); });
  called.get_future().wait();
  EXPECT_TRUE(test::eventually([&] { return is_free("job"); }));
}

TEST_P(MutexAcquire, ForgettingAnOperationDoesNotCancelIt) {
  Mutex ours{client(), "job"};
  std::promise<std::error_code> ended;
  static_cast<void>(
      ours.start_acquire({}, [&](std::error_code code, Lease) { ended.set_value(code); }));
  EXPECT_FALSE(ended.get_future().get());
}

class C44Refused : public ClientTest {};
HOLDFAST_ON_EVERY_CLIENT(C44Refused);

TEST_P(C44Refused, ANameThatIsNoneIsRefusedBeforeAnyWrite) {
  for (const std::string& name :
       {std::string{}, std::string(256, 'x'), std::string(1 << 20, 'x'), std::string{"a\nb"},
        std::string{"\0", 1}, std::string{"{"}, std::string{"}"}, std::string{"{}"},
        std::string{"}{"}, std::string{"{a{b}}"}, std::string{"\xff"}, std::string{"\xc3"}}) {
    try {
      Mutex mutex{client(), name};
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), errc::invalid_name);
      EXPECT_FALSE(error.detail().empty());
      EXPECT_EQ(error.detail().find('\n'), std::string::npos) << "one line";
    }
    EXPECT_THROW(client().inspect(name), Error);
    EXPECT_THROW(client().break_name(name), Error);
  }
  EXPECT_TRUE(client().list().names.empty());
}

class C09Times : public ClientTest {};
HOLDFAST_ON_EVERY_CLIENT(C09Times);

TEST_P(C09Times, ThatAreNoneAreRefusedBeforeAnyWrite) {
  for (const Duration ttl : {Duration{0}, Duration{-1s}, Duration{1ns}, Duration{999us},
                             Duration{1ms}, Duration::max(), Duration::min()}) {
    try {
      Mutex mutex{client(), "job", {.ttl = ttl}};
      FAIL() << ttl.count();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), errc::invalid_options);
    }
  }
  EXPECT_TRUE(client().list().names.empty());
}

TEST_P(C09Times, ThatAreKept) {
  for (const Duration ttl :
       {Duration{100ms}, Duration{1500ms}, Duration{100ms + 1ns},
        Duration{std::chrono::milliseconds{INT64_C(1) << 31}}, Duration{24h * 30}, ttl_max}) {
    Mutex mutex{client(), "job", {.ttl = ttl}};
    const Lease lease = mutex.acquire();
    EXPECT_GE(lease.ttl(), ttl);
    const Duration left = other().inspect("job").holders.at(0).ttl_left;
    EXPECT_LE(left, ttl + 1ms);
    EXPECT_GT(left, Duration{0});
    EXPECT_GE(left, ttl - 10s);
  }
}

}  // namespace
}  // namespace holdfast::conformance

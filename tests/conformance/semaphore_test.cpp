// Semaphore: never more permits than the limit, and all of them back.
#include "tests/conformance/client_test.hpp"

#include <atomic>
#include <thread>

namespace holdfast::conformance {
namespace {

class SemaphoreTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    if (!IsSkipped() && !client().capabilities().permits) {
      GTEST_SKIP() << "this store has no semaphores";
    }
  }
  Async start(Semaphore& semaphore, std::uint32_t permits, const Wait& wait = {}) {
    return Async{[&, permits](LeaseHandler handler) {
      return semaphore.start_acquire(wait, std::move(handler), permits);
    }};
  }
  template <class Face>
  static std::error_code code_of(Face face) {
    try {
      face();
      return {};
    } catch (const Error& error) {
      EXPECT_FALSE(error.detail().empty());
      return error.code();
    }
  }
};
HOLDFAST_ON_EVERY_CLIENT(SemaphoreTest);

TEST_P(SemaphoreTest, GivesOutItsPermits) {
  Semaphore ours{client(), "gpu", 3};
  Semaphore theirs{other(), "gpu", 3};
  EXPECT_EQ(ours.limit(), 3U);
  Lease one = ours.acquire();
  Lease two = theirs.acquire({.timeout = 5s}, 2);
  EXPECT_GT(two.fence(), one.fence());
  EXPECT_EQ(two.floor(), one.fence());
  EXPECT_FALSE(ours.try_acquire());
  const NameView view = other().inspect("gpu");
  ASSERT_EQ(view.holders.size(), 2U);
  EXPECT_EQ(view.holders[0].limit, 3U);
  EXPECT_EQ(view.holders[0].permits + view.holders[1].permits, 3U);
  one.release();
  EXPECT_FALSE(ours.try_acquire(2));
  std::optional<Lease> again = ours.try_acquire();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->floor(), two.fence());
  two.release();
  EXPECT_TRUE(ours.try_acquire(2));
}

TEST_P(SemaphoreTest, AnotherLimitIsToldAtOnce) {
  Semaphore ours{client(), "gpu", 3};
  Semaphore theirs{other(), "gpu", 4};
  Mutex lock{other(), "gpu"};
  Lease held = ours.acquire();
  const Instant asked = BootClock::now();
  EXPECT_EQ(code_of([&] { const Lease none = theirs.acquire(); }), errc::invalid_options);
  EXPECT_EQ(code_of([&] { const Lease none = lock.acquire(); }), errc::invalid_options);
  EXPECT_LT(BootClock::now() - asked, 2s) << "waiting would not help";
  EXPECT_EQ(start(theirs, 1).get().code, errc::invalid_options);
  EXPECT_TRUE(held.valid());
  held.release();
  EXPECT_TRUE(theirs.try_acquire()) << "an idle name has no limit yet";
}

TEST_P(SemaphoreTest, ManyPermitsAreNotPassedByFew) {
  Semaphore ours{client(), "gpu", 3};
  Semaphore theirs{other(), "gpu", 3};
  std::optional<Lease> one = ours.acquire();
  Async all = start(theirs, 3);
  ASSERT_TRUE(await_waiters("gpu", 1));
  EXPECT_FALSE(ours.try_acquire()) << "a try does not overtake, though there are two";
  Async late = start(ours, 1);
  ASSERT_TRUE(await_waiters("gpu", 2));
  EXPECT_EQ(other().inspect("gpu").waiters[0].permits, 3U);
  one->release();
  Async::Answer three = all.get();
  ASSERT_FALSE(three.code);
  EXPECT_FALSE(late.ready());
  three.lease.release();
  EXPECT_FALSE(late.get().code);
}

TEST_P(SemaphoreTest, OneReleaseLetsInAllThatFit) {
  Semaphore ours{client(), "gpu", 3};
  Semaphore theirs{other(), "gpu", 3};
  Lease all = ours.acquire({}, 3);
  Async first = start(theirs, 1);
  ASSERT_TRUE(await_waiters("gpu", 1));
  Async second = start(ours, 2);
  ASSERT_TRUE(await_waiters("gpu", 2));
  Async third = start(theirs, 1);
  ASSERT_TRUE(await_waiters("gpu", 3));
  const Instant released = BootClock::now();
  all.release();
  Async::Answer one = first.get();
  const Async::Answer two = second.get();
  EXPECT_LT(BootClock::now() - released, 1s);
  EXPECT_TRUE(one.lease.valid() && two.lease.valid());
  EXPECT_FALSE(third.ready());
  one.lease.release();
  EXPECT_FALSE(third.get().code);
}

TEST_P(SemaphoreTest, PermitsOfAHolderThatIsGoneComeBack) {
  Semaphore ours{client(), "gpu", 2};
  Semaphore theirs{other(), "gpu", 2, {.ttl = 400ms}};
  Lease gone = theirs.acquire({}, 2);
  const Instant abandoned = BootClock::now();
  gone.abandon();
  const Lease both = ours.acquire({.timeout = 5s}, 2);
  EXPECT_LT(BootClock::now() - abandoned, 400ms + 1s);
}

TEST_P(SemaphoreTest, WhatIsNoLimitAndNoPermits) {
  EXPECT_EQ(code_of([&] { Semaphore{client(), "gpu", 0}; }), errc::invalid_options);
  EXPECT_EQ(code_of([&] { Semaphore{client(), "gpu", limit_max + 1}; }), errc::invalid_options);
  EXPECT_EQ(code_of([&] { Semaphore{client(), "{", 1}; }), errc::invalid_name);
  Semaphore most{client(), "most", limit_max};
  EXPECT_TRUE(most.try_acquire(limit_max));
  Semaphore ours{client(), "gpu", 3};
  std::error_code ec;
  for (const std::uint32_t permits : {0U, 4U, UINT32_MAX}) {
    EXPECT_EQ(code_of([&] { const Lease none = ours.acquire({}, permits); }),
              errc::invalid_options);
    EXPECT_FALSE(ours.acquire({}, ec, permits));
    EXPECT_EQ(ec, errc::invalid_options);
    EXPECT_FALSE(ours.try_acquire(ec, permits));
    EXPECT_EQ(ec, errc::invalid_options);
    EXPECT_EQ(start(ours, permits).get().code, errc::invalid_options);
  }
  EXPECT_TRUE(other().list().names.empty());
}

TEST_P(SemaphoreTest, NeverMoreThanTheLimitOfManyThreads) {
  constexpr int limit = 4;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&, i] {
        Semaphore semaphore{i % 2 == 0 ? client() : other(), "gpu", limit};
        for (int round = 0; round < 4; ++round) {
          const int permits = 1 + (i + round) % 3;
          const Lease lease = semaphore.acquire({}, static_cast<std::uint32_t>(permits));
          const int now = inside += permits;
          EXPECT_LE(now, limit);
          most = std::max(most.load(), now);
          std::this_thread::sleep_for(1ms);
          inside -= permits;
        }
      });
    }
  }
  EXPECT_GE(most, 2) << "nobody met: this shows nothing";
  EXPECT_TRUE(is_free("gpu"));
}

TEST_P(SemaphoreTest, WaitsEnd) {
  Semaphore ours{client(), "gpu", 1};
  Semaphore theirs{other(), "gpu", 1};
  const Lease held = theirs.acquire();
  std::error_code ec;
  EXPECT_FALSE(ours.acquire({.timeout = 0s}, ec));
  EXPECT_EQ(ec, errc::busy);
  EXPECT_FALSE(ours.acquire({.timeout = 50ms}, ec));
  EXPECT_EQ(ec, errc::timed_out);
  EXPECT_FALSE(ours.try_acquire(ec));
  EXPECT_FALSE(ec);
  Async waiting = start(ours, 1);
  ASSERT_TRUE(await_waiters("gpu", 1));
  waiting.cancel();
  EXPECT_EQ(waiting.get().code, errc::cancelled);
  EXPECT_TRUE(await_waiters("gpu", 0));
}

}  // namespace
}  // namespace holdfast::conformance

// RecursiveMutex: the same thread enters again, with the same lease.
#include "tests/conformance/client_test.hpp"

#include <mutex>
#include <thread>

namespace holdfast::conformance {
namespace {

class RecursiveMutexTest : public ClientTest {};
HOLDFAST_ON_EVERY_CLIENT(RecursiveMutexTest);

TEST_P(RecursiveMutexTest, EntersAgainWithTheSameFence) {
  RecursiveMutex mutex{client(), "job"};
  Mutex theirs{other(), "job"};
  {
    const std::scoped_lock outer{mutex};
    const Fence fence = mutex.lease().fence();
    {
      const std::lock_guard inner{mutex};
      std::unique_lock third{mutex, std::try_to_lock};
      const std::unique_lock fourth{mutex, 5s};
      EXPECT_TRUE(third && fourth);
      EXPECT_EQ(mutex.lease().fence(), fence);
      third.unlock();
      EXPECT_TRUE(mutex.try_lock_until(std::chrono::system_clock::now()));
      mutex.unlock();
    }
    EXPECT_FALSE(theirs.try_lock()) << "only the last one releases";
    EXPECT_EQ(mutex.lease().fence(), fence);
  }
  EXPECT_TRUE(is_free("job"));
  EXPECT_EQ(client().counters().granted, 1U);
}

TEST_P(RecursiveMutexTest, OtherThreadsAndObjectsAreExcluded) {
  RecursiveMutex mutex{client(), "job"};
  RecursiveMutex another{client(), "job"};
  const std::scoped_lock held{mutex};
  std::jthread{[&] {
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock_for(30ms));
  }}.join();
  EXPECT_FALSE(another.try_lock());
  try {
    another.lock();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::would_deadlock);
  }
}

TEST_P(RecursiveMutexTest, ALostLeaseIsNotEnteredAgain) {
  RecursiveMutex mutex{client(), "job", {.ttl = 900ms}};
  Mutex theirs{other(), "job"};
  mutex.lock();
  mutex.lock();
  Loss loss{mutex.lease()};
  other().break_name("job", BreakMode::now);
  const Lease of_others = theirs.acquire({.timeout = 5s});
  ASSERT_TRUE(loss.await());
  const auto code_of = [](auto face) {
    try {
      face();
      return std::error_code{};
    } catch (const Error& error) {
      return error.code();
    }
  };
  EXPECT_EQ(code_of([&] { mutex.lock(); }), failure::ownership_lost);
  EXPECT_EQ(code_of([&] { static_cast<void>(mutex.try_lock()); }), failure::ownership_lost);
  mutex.unlock();
  EXPECT_EQ(code_of([&] { mutex.lock(); }), failure::ownership_lost) << "not wholly unlocked yet";
  mutex.unlock();
  EXPECT_FALSE(mutex.try_lock()) << "asks the store again: somebody else has it";
  EXPECT_TRUE(of_others.valid());
}

}  // namespace
}  // namespace holdfast::conformance

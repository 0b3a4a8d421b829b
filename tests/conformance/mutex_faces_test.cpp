// The faces of the standard library: BasicLockable, Lockable, TimedLockable.
#include "tests/conformance/client_test.hpp"

#include "tests/support/overlap_log.hpp"
#include "tests/support/temp_dir.hpp"

#include <mutex>
#include <thread>

namespace holdfast::conformance {
namespace {

template <class T>
concept TimedLockable = requires(T& m) {
  m.lock();
  { m.try_lock() } -> std::same_as<bool>;
  { m.try_lock_for(1s) } -> std::same_as<bool>;
  { m.try_lock_until(std::chrono::steady_clock::now()) } -> std::same_as<bool>;
  { m.unlock() }
  noexcept;
};
static_assert(TimedLockable<Mutex>);
static_assert(!std::is_copy_constructible_v<Mutex> && !std::is_move_constructible_v<Mutex>);
static_assert(std::is_nothrow_move_constructible_v<Lease> && !std::is_copy_constructible_v<Lease>);
static_assert(std::is_nothrow_move_assignable_v<Lease> && std::is_nothrow_destructible_v<Lease>);

class MutexFaces : public ClientTest {};
HOLDFAST_ON_EVERY_CLIENT(MutexFaces);

TEST_P(MutexFaces, UniqueLock) {
  Mutex mutex{client(), "job"};
  Mutex theirs{other(), "job"};
  {
    std::unique_lock lock{mutex};
    EXPECT_TRUE(mutex.lease().valid());
    EXPECT_FALSE(theirs.try_lock());
    lock.unlock();
    EXPECT_TRUE(theirs.try_lock());
    EXPECT_FALSE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock_for(50ms));
    theirs.unlock();
    EXPECT_TRUE(lock.try_lock_for(5s));
  }
  EXPECT_TRUE(is_free("job"));
  const std::unique_lock later{mutex, std::defer_lock};
  EXPECT_FALSE(later.owns_lock());
}

TEST_P(MutexFaces, ScopedLockOfSeveral) {
  Mutex a{client(), "a"};
  Mutex b{client(), "b"};
  Mutex c{other(), "c"};
  {
    const std::scoped_lock all{a, b, c};
    EXPECT_TRUE(a.lease().valid() && b.lease().valid() && c.lease().valid());
  }
  EXPECT_TRUE(is_free("a") && is_free("b") && is_free("c"));
}

TEST_P(MutexFaces, TimesOfEveryClock) {
  Mutex mutex{client(), "job"};
  Mutex theirs{other(), "job"};
  const std::lock_guard held{theirs};
  EXPECT_FALSE(mutex.try_lock_until(std::chrono::system_clock::now() + 30ms));
  EXPECT_FALSE(mutex.try_lock_until(std::chrono::steady_clock::now() + 30ms));
  EXPECT_FALSE(mutex.try_lock_until(BootClock::now() + 30ms));
  EXPECT_FALSE(mutex.try_lock_until(std::chrono::system_clock::time_point::min()));
  EXPECT_FALSE(mutex.try_lock_for(-1s));
  EXPECT_FALSE(mutex.try_lock_for(std::chrono::duration<double>{0.01}));
}

TEST_P(MutexFaces, ThreadsOfOneProcessExcludeEachOther) {
  const test::TempDir folder;
  test::OverlapLog log{folder / "overlap.log"};
  Mutex shared{client(), "job"};
  Mutex theirs{other(), "job"};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 64; ++i) {
      threads.emplace_back([&, id = "t" + std::to_string(i)] {
        Mutex own{client(), "job"};
        Mutex& mutex = id.back() < '3' ? shared : (id.back() < '6' ? theirs : own);
        for (int round = 0; round < 2; ++round) {
          const std::unique_lock lock{mutex};
          const std::int64_t fence = to_int(mutex.lease().fence());
          log.enter(id, fence);
          log.leave(id, fence);
        }
      });
    }
  }
  EXPECT_EQ(log.check(), "");
  EXPECT_EQ(log.intervals().size(), 128U);
  EXPECT_TRUE(is_free("job"));
}

}  // namespace
}  // namespace holdfast::conformance

// SharedMutex: readers and writers, in order, and from the one to the other.
#include "tests/conformance/client_test.hpp"

#include "tests/support/overlap_log.hpp"
#include "tests/support/temp_dir.hpp"

#include <shared_mutex>
#include <thread>

namespace holdfast::conformance {
namespace {

template <class T>
concept SharedTimedLockable = requires(T& m) {
  m.lock();
  { m.try_lock() } -> std::same_as<bool>;
  { m.try_lock_for(1s) } -> std::same_as<bool>;
  { m.try_lock_until(std::chrono::steady_clock::now()) } -> std::same_as<bool>;
  { m.unlock() }
  noexcept;
  m.lock_shared();
  { m.try_lock_shared() } -> std::same_as<bool>;
  { m.try_lock_shared_for(1s) } -> std::same_as<bool>;
  { m.try_lock_shared_until(std::chrono::system_clock::now()) } -> std::same_as<bool>;
  { m.unlock_shared() }
  noexcept;
};
static_assert(SharedTimedLockable<SharedMutex>);
static_assert(!std::is_copy_constructible_v<SharedMutex>);

class SharedMutexTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    if (!IsSkipped() && !client().capabilities().shared) {
      GTEST_SKIP() << "this store knows exclusive locks only";
    }
  }
  Async start_reading(SharedMutex& mutex, const Wait& wait = {}) {
    return Async{
        [&](LeaseHandler handler) { return mutex.start_acquire_shared(wait, std::move(handler)); }};
  }
  Async start_writing(SharedMutex& mutex, const Wait& wait = {}) {
    return Async{
        [&](LeaseHandler handler) { return mutex.start_acquire(wait, std::move(handler)); }};
  }
};
HOLDFAST_ON_EVERY_CLIENT(SharedMutexTest);

TEST_P(SharedMutexTest, ManyReadersOrOneWriter) {
  SharedMutex ours{client(), "doc"};
  SharedMutex theirs{other(), "doc"};
  Mutex exclusive{other(), "doc"};
  Lease first = ours.acquire_shared();
  std::optional<Lease> second = theirs.try_acquire_shared();
  std::optional<Lease> third = ours.try_acquire_shared();
  ASSERT_TRUE(second && third);
  EXPECT_LT(first.fence(), second->fence()) << "each has its own";
  EXPECT_LT(second->fence(), third->fence());
  EXPECT_EQ(first.floor(), first.fence());
  EXPECT_EQ(second->floor(), first.fence()) << "the lowest that lives";
  EXPECT_FALSE(theirs.try_acquire());
  EXPECT_FALSE(exclusive.try_acquire()) << "a Mutex of the name is a writer";
  EXPECT_EQ(other().inspect("doc").holders.size(), 3U);
  first.release();
  EXPECT_FALSE(theirs.try_acquire());
  second->release();
  third->release();
  const Lease writer = theirs.acquire({.timeout = 5s});
  EXPECT_GT(writer.fence(), third->fence());
  EXPECT_EQ(writer.floor(), writer.fence());
  EXPECT_FALSE(ours.try_acquire_shared());
  EXPECT_FALSE(ours.try_acquire());
}

TEST_P(SharedMutexTest, AWaitingWriterStopsLaterReaders) {
  SharedMutex ours{client(), "doc"};
  SharedMutex theirs{other(), "doc"};
  Lease reading = ours.acquire_shared();
  Async writing = start_writing(theirs);
  ASSERT_TRUE(await_waiters("doc", 1));
  EXPECT_FALSE(ours.try_acquire_shared()) << "a try does not overtake";
  Async late = start_reading(ours);
  ASSERT_TRUE(await_waiters("doc", 2));
  EXPECT_FALSE(late.ready());
  reading.release();
  Async::Answer writer = writing.get();
  ASSERT_FALSE(writer.code);
  EXPECT_FALSE(late.ready());
  writer.lease.release();
  EXPECT_GT(late.get().lease.fence(), Fence::none);
}

TEST_P(SharedMutexTest, ReadersThatWaitTogetherEnterTogether) {
  SharedMutex ours{client(), "doc"};
  SharedMutex theirs{other(), "doc"};
  Lease writing = theirs.acquire();
  Async first = start_reading(ours);
  ASSERT_TRUE(await_waiters("doc", 1));
  Async second = start_reading(theirs);
  ASSERT_TRUE(await_waiters("doc", 2));
  Async writer = start_writing(ours);
  ASSERT_TRUE(await_waiters("doc", 3));
  Async third = start_reading(ours);
  ASSERT_TRUE(await_waiters("doc", 4));
  const Instant released = BootClock::now();
  writing.release();
  Async::Answer one = first.get();
  Async::Answer two = second.get();
  EXPECT_LT(BootClock::now() - released, 1s) << "told, not found out by looking again";
  EXPECT_TRUE(one.lease.valid() && two.lease.valid());
  EXPECT_EQ(std::max(one.lease.floor(), two.lease.floor()),
            std::min(one.lease.fence(), two.lease.fence()));
  EXPECT_FALSE(writer.ready());
  EXPECT_FALSE(third.ready()) << "it came after the writer";
  one.lease.release();
  two.lease.release();
  Async::Answer wrote = writer.get();
  wrote.lease.release();
  EXPECT_TRUE(third.get().lease.valid());
}

TEST_P(SharedMutexTest, EachReaderExpiresByItself) {
  SharedMutex shortly{client(), "doc", {.ttl = 300ms, .renew = false}};
  SharedMutex longer{client(), "doc"};
  SharedMutex theirs{other(), "doc"};
  Lease first = shortly.acquire_shared();
  Lease second = longer.acquire_shared();
  Loss loss{first};
  first.abandon();
  ASSERT_TRUE(test::eventually([&] { return other().inspect("doc").holders.size() == 1U; }, 3s));
  EXPECT_TRUE(second.valid());
  EXPECT_FALSE(theirs.try_acquire());
  std::optional<Lease> third = theirs.try_acquire_shared();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->floor(), second.fence()) << "the expired one is no floor any more";
}

TEST_P(SharedMutexTest, DowngradeKeepsWritersOut) {
  SharedMutex ours{client(), "doc"};
  SharedMutex theirs{other(), "doc"};
  Lease lease = ours.acquire();
  const Fence fence = lease.fence();
  const OwnerId owner = lease.owner();
  Async reader = start_reading(theirs);
  ASSERT_TRUE(await_waiters("doc", 1));
  Async writer = start_writing(theirs);
  ASSERT_TRUE(await_waiters("doc", 2));
  ours.downgrade(lease);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(lease.fence(), fence);
  EXPECT_EQ(lease.owner(), owner);
  Async::Answer let_in = reader.get();
  ASSERT_FALSE(let_in.code);
  EXPECT_EQ(let_in.lease.floor(), fence) << "ours is alive beside it";
  EXPECT_FALSE(writer.ready()) << "no writer gets in between";
  ours.downgrade(lease);  // once more is harmless
  let_in.lease.release();
  EXPECT_FALSE(writer.ready());
  lease.release();
  EXPECT_GT(writer.get().lease.fence(), fence);
}

TEST_P(SharedMutexTest, ADowngradedLeaseIsStillRenewed) {
  SharedMutex ours{client(), "doc", {.ttl = 600ms}};
  Lease lease = ours.acquire();
  ours.downgrade(lease);
  const std::size_t renewed = recorder().count(Event::Kind::renewed);
  ASSERT_TRUE(recorder().await(Event::Kind::renewed, renewed + 4)) << "more than one TTL";
  EXPECT_TRUE(lease.valid());
  const NameView view = other().inspect("doc");
  ASSERT_EQ(view.holders.size(), 1U);
  EXPECT_EQ(view.holders[0].mode, Mode::shared);
  EXPECT_EQ(view.holders[0].owner, lease.owner());
}

TEST_P(SharedMutexTest, DowngradeOfWhatIsNotHeld) {
  SharedMutex ours{client(), "doc"};
  SharedMutex elsewhere{client(), "another"};
  const auto code = [](SharedMutex& mutex, Lease& lease) {
    try {
      mutex.downgrade(lease);
      return std::error_code{};
    } catch (const Error& error) {
      return error.code();
    }
  };
  Lease none;
  EXPECT_EQ(code(ours, none), errc::invalid_options);
  Lease lease = ours.acquire();
  EXPECT_EQ(code(elsewhere, lease), errc::invalid_options);
  other().break_name("doc", BreakMode::now);
  EXPECT_EQ(code(ours, lease), failure::ownership_lost);
  Loss loss{lease};
  EXPECT_TRUE(loss.await()) << "and the watchdog heard of it at once";
  EXPECT_EQ(code(ours, lease), failure::ownership_lost);
}

TEST_P(SharedMutexTest, StandardLocks) {
  SharedMutex ours{client(), "doc"};
  SharedMutex theirs{other(), "doc"};
  {
    const std::shared_lock reader{ours};
    EXPECT_TRUE(ours.shared_lease().valid());
    const std::shared_lock beside{theirs, 5s};
    ASSERT_TRUE(beside);
    EXPECT_FALSE(theirs.try_lock());
    EXPECT_FALSE(theirs.try_lock_for(30ms));
    EXPECT_FALSE(theirs.try_lock_until(std::chrono::system_clock::now() + 30ms));
    const std::shared_lock again{ours, std::try_to_lock};
    EXPECT_TRUE(again) << "one thread may have several";
  }
  EXPECT_TRUE(is_free("doc"));
  {
    std::unique_lock writer{ours};
    EXPECT_TRUE(ours.lease().valid());
    EXPECT_FALSE(theirs.try_lock_shared());
    EXPECT_FALSE(theirs.try_lock_shared_for(30ms));
    EXPECT_FALSE(theirs.try_lock_shared_until(std::chrono::steady_clock::now() - 1s));
    writer.release();
    const Fence fence = ours.lease().fence();
    ours.downgrade();
    const std::shared_lock reader{ours, std::adopt_lock};
    EXPECT_EQ(ours.shared_lease().fence(), fence);
    EXPECT_TRUE(theirs.try_lock_shared());
    theirs.unlock_shared();
  }
  EXPECT_TRUE(is_free("doc"));
}

TEST_P(SharedMutexTest, ScopedLockInEitherOrder) {
  SharedMutex a{client(), "a"};
  Mutex b{client(), "b"};
  std::atomic<int> inside{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 5; ++round) {
          const auto work = [&] {
            EXPECT_EQ(++inside, 1);
            --inside;
          };
          if (i % 2 == 0) {
            const std::scoped_lock both{a, b};
            work();
          } else {
            const std::scoped_lock both{b, a};
            work();
          }
        }
      });
    }
  }
  EXPECT_TRUE(is_free("a") && is_free("b"));
}

// Readers beside readers, writers alone: nobody ever beside a writer.
TEST_P(SharedMutexTest, ReadersAndWritersOfManyThreads) {
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<int> beside{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 12; ++i) {
      threads.emplace_back([&, i] {
        SharedMutex mutex{i % 2 == 0 ? client() : other(), "doc"};
        for (int round = 0; round < 6; ++round) {
          if ((i + round) % 4 == 0) {
            const std::unique_lock lock{mutex};
            EXPECT_EQ(++writers, 1);
            EXPECT_EQ(readers, 0);
            std::this_thread::yield();
            --writers;
          } else {
            const std::shared_lock lock{mutex};
            beside = std::max(beside.load(), ++readers);
            EXPECT_EQ(writers, 0);
            std::this_thread::sleep_for(2ms);
            --readers;
          }
        }
      });
    }
  }
  EXPECT_GE(beside, 2) << "readers never met: this shows nothing";
  EXPECT_TRUE(is_free("doc"));
}

TEST_P(SharedMutexTest, WaitsOfBothModesEnd) {
  SharedMutex ours{client(), "doc"};
  SharedMutex theirs{other(), "doc"};
  std::optional<Lease> held = theirs.acquire();
  std::error_code ec;
  EXPECT_FALSE(ours.acquire_shared({.timeout = 0s}, ec));
  EXPECT_EQ(ec, errc::busy);
  EXPECT_FALSE(ours.acquire_shared({.timeout = 50ms}, ec));
  EXPECT_EQ(ec, errc::timed_out);
  EXPECT_FALSE(ours.try_acquire_shared(ec));
  EXPECT_FALSE(ec);
  std::stop_source stop;
  Async waiting = start_reading(ours, {.timeout = {}, .stop = stop.get_token()});
  ASSERT_TRUE(await_waiters("doc", 1));
  stop.request_stop();
  EXPECT_EQ(waiting.get().code, errc::cancelled);
  EXPECT_TRUE(await_waiters("doc", 0));
  held->release();
  held = theirs.acquire_shared();
  EXPECT_FALSE(ours.try_acquire(ec));
  EXPECT_FALSE(ec);
  EXPECT_FALSE(ours.acquire({.timeout = 50ms}, ec));
  EXPECT_EQ(ec, errc::timed_out);
  EXPECT_TRUE(await_waiters("doc", 0));
}

class SharedMutexNames : public ClientTest {};
HOLDFAST_ON_EVERY_CLIENT(SharedMutexNames);

TEST_P(SharedMutexNames, AreChecked) {
  EXPECT_THROW((SharedMutex{client(), "{"}), Error);
  EXPECT_THROW((SharedMutex{client(), "doc", {.ttl = 1ms}}), Error);
}

}  // namespace
}  // namespace holdfast::conformance

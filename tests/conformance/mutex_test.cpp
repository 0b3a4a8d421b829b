// The public face on the memory: store: threads, handlers, loss, closing.
#include <holdfast/holdfast.hpp>

#include "runtime/host.hpp"
#include "store/memory/memory_store.hpp"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

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
static_assert(std::is_nothrow_move_constructible_v<Lease> && !std::is_copy_constructible_v<Lease>);

class MutexOnMemory : public ::testing::Test {
 protected:
  std::shared_ptr<Host> host_ = make_host();
  std::shared_ptr<StoreFactory> place_ = make_memory_factory("");
  Client client_{place_, host_};
  Client other_{place_, host_};
};

TEST_F(MutexOnMemory, GrantsOnceAndFencesRise) {
  Mutex a{client_, "job"};
  Mutex b{other_, "job"};
  Fence last = Fence::none;
  for (int round = 0; round < 100; ++round) {
    Lease lease = (round % 2 == 0 ? a : b).acquire();
    ASSERT_TRUE(lease.valid());
    ASSERT_GT(lease.fence(), last);
    last = lease.fence();
    ASSERT_FALSE(b.try_acquire().has_value());
    std::error_code ec;
    Lease none = a.acquire({.timeout = 0s}, ec);
    ASSERT_EQ(ec, errc::busy);
    ASSERT_FALSE(none);
    lease.release();
  }
  EXPECT_EQ(client_.counters().held, 0U);
}

TEST_F(MutexOnMemory, HandsOffInOrder) {
  Mutex a{client_, "job"};
  Mutex b{other_, "job"};
  Lease first = a.acquire();
  std::promise<Fence> second;
  b.start_acquire({.timeout = 30s}, [&](std::error_code ec, Lease lease) {
    ASSERT_FALSE(ec);
    second.set_value(lease.fence());
  });
  while (client_.inspect("job").waiters.empty()) {
    std::this_thread::yield();
  }
  const Fence fence = first.fence();
  first.release();
  EXPECT_GT(second.get_future().get(), fence);
}

TEST_F(MutexOnMemory, StdLockFaces) {
  Mutex a{client_, "a"};
  Mutex b{client_, "b"};
  int inside = 0;
  std::vector<std::jthread> threads;
  Mutex shared{client_, "a"};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Mutex own{client_, "a"};
      Mutex& mine = i % 2 == 0 ? shared : own;
      for (int k = 0; k < 50; ++k) {
        const std::unique_lock lock{mine};
        EXPECT_EQ(++inside, 1);
        --inside;
      }
    });
  }
  threads.clear();
  const std::scoped_lock both{a, b};
  EXPECT_TRUE(a.lease().valid() && b.lease().valid());
  std::unique_lock<Mutex> late{b, std::defer_lock};
}

TEST_F(MutexOnMemory, TimesOutAndCancels) {
  Mutex a{client_, "job"};
  Lease held = a.acquire();
  std::error_code ec;
  Lease none = a.acquire({.timeout = 50ms}, ec);
  EXPECT_EQ(ec, errc::timed_out);
  std::stop_source stop;
  std::jthread canceller{[&] {
    while (client_.inspect("job").waiters.empty()) {
      std::this_thread::yield();
    }
    stop.request_stop();
  }};
  none = a.acquire({.timeout = 30s, .stop = stop.get_token()}, ec);
  EXPECT_EQ(ec, errc::cancelled);
}

TEST_F(MutexOnMemory, StartAcquireHearsAStopThatCameBeforeIt) {
  Mutex a{client_, "job"};
  Mutex b{other_, "job"};
  const Lease held = b.acquire();
  std::stop_source stop;
  stop.request_stop();
  const auto ended = std::make_shared<std::promise<std::error_code>>();
  a.start_acquire({.timeout = 30s, .stop = stop.get_token()},
                  [ended](std::error_code ec, const Lease&) { ended->set_value(ec); });
  auto result = ended->get_future();
  ASSERT_EQ(result.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(result.get(), errc::cancelled);
}

TEST_F(MutexOnMemory, BreakTellsTheHolder) {
  Mutex a{client_, "job", {.ttl = 30s}};
  // Granted by the loop, so that the client is known to listen; news before that would only come
  // with the first renewal.
  std::promise<Lease> granted;
  a.start_acquire({}, [&](std::error_code, Lease got) { granted.set_value(std::move(got)); });
  Lease lease = granted.get_future().get();
  std::promise<void> told;
  std::stop_callback on_lost{lease.lost(), [&] { told.set_value(); }};
  EXPECT_EQ(other_.break_name("job").holders.size(), 1U);
  ASSERT_EQ(told.get_future().wait_for(5s), std::future_status::ready);
  EXPECT_EQ(lease.why_lost(), errc::broken);
  std::error_code ec;
  lease.release(ec);
  EXPECT_EQ(ec, errc::broken);
  EXPECT_TRUE(client_.inspect("job").holders.empty());
}

TEST_F(MutexOnMemory, FixedLeaseExpiresInTime) {
  Mutex a{client_, "job", {.ttl = 1s, .renew = false}};
  Lease lease = a.acquire();
  const Instant until = lease.trusted_until();
  std::promise<Instant> told;
  std::stop_callback on_lost{lease.lost(), [&] { told.set_value(BootClock::now()); }};
  EXPECT_LE(told.get_future().get(), until);
  EXPECT_EQ(lease.why_lost(), errc::expired);
}

TEST_F(MutexOnMemory, ClosedClientRefuses) {
  Mutex a{client_, "job"};
  Lease held = a.acquire();
  std::error_code waiting_ec;
  std::jthread waiter{[&] { Lease none = a.acquire({}, waiting_ec); }};
  while (other_.inspect("job").waiters.empty()) {
    std::this_thread::yield();
  }
  client_.close();
  waiter.join();
  EXPECT_EQ(waiting_ec, errc::closed);
  EXPECT_FALSE(held.valid());
  EXPECT_TRUE(other_.inspect("job").holders.empty());
  std::error_code ec;
  Lease none = a.acquire({}, ec);
  EXPECT_EQ(ec, errc::closed);
}

}  // namespace
}  // namespace holdfast

// C19: a stream of readers must not keep a writer out, readers that waited are let in together,
// nobody waits for itself, and no writer gets between a downgrade and its reader.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/eventually.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C19 : public OnEveryStore {
 protected:
  void SetUp() override {
    OnEveryStore::SetUp();
    if (IsSkipped()) {
      return;
    }
    for (int i = 0; i < 4; ++i) {
      clients_.push_back(store().connect());
      mutexes_.push_back(std::make_unique<SharedMutex>(*clients_.back(), "room", options_));
    }
  }

  SharedMutex& mutex(std::size_t i) { return *mutexes_.at(i); }
  bool waiting(std::size_t count) {
    return test::eventually([&] { return clients_[0]->inspect("room").waiters.size() == count; });
  }
  std::future<Lease> start(std::size_t i, Mode mode) {
    return std::async(std::launch::async, [this, i, mode] {
      return mode == Mode::shared ? mutex(i).acquire_shared({.timeout = 10s})
                                  : mutex(i).acquire({.timeout = 10s});
    });
  }

 private:
  LeaseOptions options_{.ttl = 10s};
  std::vector<std::unique_ptr<Client>> clients_{};
  std::vector<std::unique_ptr<SharedMutex>> mutexes_{};
};

// The writer waits for the readers that were inside when it came, and for no later one.
TEST_P(C19, AStreamOfReadersDoesNotStarveAWriter) {
  const Duration hold = short_or_full<Duration>(200ms, 1s);
  const Duration apart = hold / 10;
  const Duration lasts = short_or_full<Duration>(2s, 60s);
  const Duration writer_comes = short_or_full<Duration>(500ms, 5s);
  const Instant begin = BootClock::now();
  std::atomic<bool> writer_waits{false};
  std::atomic<int> reads{0};
  std::vector<std::jthread> readers;
  for (int i = 0; i < 12; ++i) {  // always ten of them inside or on their way
    readers.emplace_back([&, i] {
      SharedMutex& ours = mutex(static_cast<std::size_t>(1 + i % 3));
      std::this_thread::sleep_until(begin + apart * i);
      while (BootClock::now() < begin + lasts) {
        Lease lease = ours.acquire_shared({.timeout = 30s});
        ++reads;
        std::this_thread::sleep_for(hold);
        lease.release();
      }
    });
  }
  std::this_thread::sleep_until(begin + writer_comes);
  const std::int64_t readers_fence = to_int(mutex(1).acquire_shared().fence());
  const Instant asked = BootClock::now();
  Lease writer = mutex(0).acquire({.timeout = 30s});
  const Duration waited = BootClock::now() - asked;
  EXPECT_GT(to_int(writer.fence()), readers_fence);
  EXPECT_LE(waited, hold + short_or_full<Duration>(1s, 2s));
  writer.release();
  readers.clear();
  EXPECT_GT(reads, 10);
  figure("C19 ", GetParam(), " writer_waited_ms=", ms(waited), " reads=", reads.load());
}

TEST_P(C19, ReadersThatWaitedEnterTogether) {
  Lease writer = mutex(0).acquire();
  std::vector<std::future<Lease>> readers;
  for (std::size_t i = 1; i < 4; ++i) {
    readers.push_back(start(i, Mode::shared));
  }
  ASSERT_TRUE(waiting(3));
  const Instant released = BootClock::now();
  writer.release();
  std::vector<Lease> inside;
  for (auto& reader : readers) {
    inside.push_back(reader.get());
  }
  EXPECT_LE(BootClock::now() - released, 500ms);
  for (const Lease& lease : inside) {
    EXPECT_TRUE(lease.valid());
    EXPECT_GT(lease.fence(), writer.fence());
  }
  figure("C19 ", GetParam(), " three_in_after_ms=", ms(BootClock::now() - released));
}

TEST_P(C19, ReadersThatWantToWriteAreToldAtOnce) {
  const Lease first = mutex(0).acquire_shared();
  const Lease second = mutex(1).acquire_shared();
  for (std::size_t i : {0U, 1U}) {
    const Instant asked = BootClock::now();
    std::error_code code;
    const Lease none = i == 0 ? mutex(0).acquire({.timeout = 10s}, code)
                              : mutex(1).acquire({.timeout = 10s}, code);
    EXPECT_EQ(code, errc::would_deadlock);
    EXPECT_LE(BootClock::now() - asked, 1s);
    if (i == 0) {
      EXPECT_TRUE(mutex(2).try_acquire_shared()) << "the one who was refused stands in no way";
    }
  }
}

TEST_P(C19, NoWriterComesBetweenAWriterAndTheReaderThatItBecomes) {
  Lease writer = mutex(0).acquire();
  auto next_writer = start(1, Mode::exclusive);
  ASSERT_TRUE(waiting(1));
  const Fence fence = writer.fence();
  mutex(0).downgrade(writer);
  EXPECT_EQ(next_writer.wait_for(300ms), std::future_status::timeout);
  EXPECT_TRUE(writer.valid());
  EXPECT_EQ(writer.fence(), fence);
  writer.release();
  EXPECT_GT(next_writer.get().fence(), fence);
}

TEST_P(C19, AReaderThatAsksAgainBehindAWriterIsTold) {
  Lease reader = mutex(0).acquire_shared();
  auto writer = start(1, Mode::exclusive);
  ASSERT_TRUE(waiting(1));
  const Instant asked = BootClock::now();
  std::error_code code;
  const Lease none = mutex(0).acquire_shared({.timeout = 10s}, code);
  EXPECT_EQ(code, errc::would_deadlock);
  EXPECT_LE(BootClock::now() - asked, 1s);
  reader.release();
  EXPECT_TRUE(writer.get().valid());
}

CASE_ON_EVERY_STORE(C19);

}  // namespace
}  // namespace holdfast::chaos

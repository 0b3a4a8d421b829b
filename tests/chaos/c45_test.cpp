// C45: many names, each used once. Nothing that belongs to a name may stay: no memory, thread,
// descriptor or record; and what is held all the while must not suffer.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

std::size_t entries(const char* directory) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator{directory}, {}));
}

std::size_t resident_kib() {
  std::ifstream file{"/proc/self/statm"};
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

class C45 : public OnEveryStore {
 protected:
  static constexpr int users = 4;

  // Every other name is waited for; one in a hundred is left to its TTL.
  void use(Client& client, Client& rival, int from, int to) {
    for (int i = from; i < to; ++i) {
      const std::string name = "order/" + std::to_string(i);
      Lease lease = Mutex{client, name, {.ttl = 2s}}.acquire({.timeout = 30s});
      Operation waiting;
      if (i % 2 == 0) {
        // Waits that are not over are no names that were used: a fast store would pile them up.
        while (++started_ - served_ - failed_ > 100) {
          --started_;
          std::this_thread::sleep_for(1ms);
        }
        waiting = Mutex{rival, name, {.ttl = 2s}}.start_acquire(
            {.timeout = 30s}, [this](std::error_code ec, Lease next) {
              ++(ec ? failed_ : served_);
              next.release(ec);
            });
      }
      if (i % 100 == 1) {
        lease.abandon();
      } else {
        lease.release();
      }
    }
  }

  // Once what was abandoned has ended, and a few others came by, as they do.
  void expect_clean(std::size_t held) {
    if (!store().left_behind()) {
      return;
    }
    std::this_thread::sleep_for(2s);
    const auto passer_by = store().connect();
    for (int i = 0; i < 20; ++i) {
      Mutex{*passer_by, "passer-by", {.ttl = 2s}}.acquire().release();
    }
    // What ended by time may wait for a sweep; what was given back or left must be gone.
    const std::int64_t left = *store().left_behind();
    figure("C45 ", GetParam(), ": records=", left, " held=", held);
    EXPECT_LE(left, static_cast<std::int64_t>(held) * records_a_lease() + names_used() / 50);
  }
  // Each grant of SQLite waits for the disk.
  int names_used() const { return short_or_full(GetParam() == "sqlite" ? 1'000 : 4'000, 100'000); }
  // Redis keeps a plain key and a hash.
  int records_a_lease() const { return GetParam() == "redis" ? 2 : 1; }

  std::atomic<int> started_{0};
  std::atomic<int> served_{0};
  std::atomic<int> failed_{0};
};

TEST_P(C45, NothingStaysOfANameThatWasUsed) {
  const int names = names_used();
  const auto client = store().connect();
  const auto rival = store().connect();
  std::vector<Lease> held;
  for (int i = 0; i < short_or_full(200, 5'000); ++i) {
    held.push_back(Mutex{*client, "held/" + std::to_string(i), {.ttl = 10s}}.acquire());
  }
  std::size_t early_kib = 0;
  std::size_t early_descriptors = 0;
  std::size_t early_threads = 0;
  const Instant began = BootClock::now();
  std::atomic<Duration::rep> longest_list{0};
  std::jthread operator_looks{[&](const std::stop_token& stop) {
    const auto looking = store().connect();
    while (!stop.stop_requested()) {
      const Instant asked = BootClock::now();
      static_cast<void>(looking->list());
      longest_list = std::max<Duration::rep>(longest_list, (BootClock::now() - asked).count());
      std::this_thread::sleep_for(50ms);
    }
  }};
  for (int part = 0; part < 5; ++part) {
    std::vector<std::jthread> threads;
    for (int user = 0; user < users; ++user) {
      const int share = names / 5 / users;
      const int from = (part * users + user) * share;
      threads.emplace_back([&, from, share] { use(*client, *rival, from, from + share); });
    }
    threads.clear();
    if (part == 1) {
      early_kib = resident_kib();
      early_descriptors = entries("/proc/self/fd");
      early_threads = entries("/proc/self/task");
    }
  }
  const Duration took = BootClock::now() - began;
  while (served_ + failed_ < names / 2 && BootClock::now() < began + took + 10s) {
    std::this_thread::sleep_for(5ms);
  }
  operator_looks = {};
  EXPECT_EQ(failed_, 0);
  EXPECT_EQ(served_, names / 2);
  EXPECT_EQ(std::ranges::count_if(held, [](const Lease& lease) { return !lease.valid(); }), 0);
  // There is a connection for each call at one time, and notifiers while callbacks are slow: some
  // come late, but not one a name.
  EXPECT_LE(entries("/proc/self/fd"), early_descriptors + 128);
  EXPECT_LE(entries("/proc/self/task"), early_threads + 32);
  // All of it takes the memory: store less than a TTL, so what lasts one TTL is still there.
  const std::size_t kib = resident_kib();
  EXPECT_LE(kib, early_kib + std::max<std::size_t>(early_kib / 5, 12288)) << early_kib << " before";
  expect_clean(held.size());
  figure("C45 ", GetParam(), ": names=", names, " in_s=", ms(took) / 1000, " kib=", early_kib,
         " to ", kib, " longest_list_ms=", ms(Duration{longest_list}));
}

CASE_ON_EVERY_STORE(C45);

}  // namespace
}  // namespace holdfast::chaos

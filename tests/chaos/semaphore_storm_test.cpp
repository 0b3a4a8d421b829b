// A semaphore under a storm of kill -9: holders die with their permits, waiters die in the queue.
// Never more permits than the limit are out, and all are back one TTL after the last death.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/taker.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/overlap_log.hpp"

#include <random>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class SemaphoreStorm : public OnEveryStore {
 protected:
  static constexpr Duration ttl = 1s;
  static constexpr std::uint32_t limit = 3;

  // Every third wants two permits.
  std::unique_ptr<Taker> worker(int number) {
    return std::make_unique<Taker>(
        store().url(), std::vector<std::string>{"--name",       "gpu",
                                                "--limit",      std::to_string(limit),
                                                "--permits",    number % 3 == 0 ? "2" : "1",
                                                "--ttl",        "1s",
                                                "--wait",       "30s",
                                                "--hold-up-to", "30ms",
                                                "--loop",       "forever",
                                                "--die-one-in", "40",
                                                "--id",         std::to_string(number),
                                                "--log",        log_});
  }

  // What no worker may tell, whoever else is killed.
  static std::string complaint(const Taker& taker) {
    const std::string told = taker.told();
    for (const std::string bad : {"failed", "lost", "released not_owner"}) {
      const auto at = told.find(bad);
      if (at != std::string::npos) {
        return told.substr(at, told.find('\n', at) - at);
      }
    }
    return {};
  }

  // Removes the dead, kills one more now and then, whatever it is at, and fills up again.
  void turn(std::vector<std::unique_ptr<Taker>>& workers) {
    killed_ += static_cast<int>(std::erase_if(workers, [](const auto& taker) {
      if (!taker->process().running()) {
        EXPECT_EQ(complaint(*taker), "");
        return true;
      }
      return false;
    }));
    if (!workers.empty() && ++turns_ % 3 == 0) {
      workers[random_() % workers.size()]->process().signal(SIGKILL);
    }
    while (workers.size() < static_cast<std::size_t>(short_or_full(10, 30))) {
      workers.push_back(worker(++started_));
    }
  }

  test::TempDir dir_{};
  const std::string log_ = (dir_ / "log").string();
  std::mt19937 random_{20261130};
  int turns_ = 0;
  int started_ = 0;
  int killed_ = 0;
};

TEST_P(SemaphoreStorm, NeverAboveTheLimitAndAllBackInTime) {
  const auto client = store().connect();
  std::vector<std::unique_ptr<Taker>> workers;
  const Instant end = BootClock::now() + short_or_full(6s, 60s);
  std::uint32_t most_seen = 0;
  while (BootClock::now() < end) {
    turn(workers);
    std::uint32_t out = 0;
    for (const Holder& holder : client->inspect("gpu").holders) {
      EXPECT_EQ(holder.limit, limit);
      out += holder.permits;
    }
    EXPECT_LE(out, limit) << "as the store says";
    most_seen = std::max(most_seen, out);
    std::this_thread::sleep_for(150ms);
  }
  for (const auto& taker : workers) {
    EXPECT_EQ(complaint(*taker), "");
    taker->process().signal(SIGKILL);
  }
  workers.clear();
  const Instant last_kill = BootClock::now();
  std::error_code ec;
  const Lease all =
      Semaphore{*client, "gpu", limit, {.ttl = ttl}}.acquire({.timeout = 10s}, ec, limit);
  const Duration back_after = BootClock::now() - last_kill;
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_LE(back_after, ttl + 1s) << "permits of the dead stay out";
  EXPECT_TRUE(client->inspect("gpu").waiters.empty()) << "the dead still wait";
  const test::OverlapLog log{log_};
  // Who was killed held on for a while: a lease that was handed on lasts 2/3 of a TTL at least.
  EXPECT_EQ(log.check(Duration{ttl / 2}.count(), limit), "");
  const std::size_t holds = log.intervals().size();
  EXPECT_GT(holds, 20U);
  EXPECT_GT(killed_, 5);
  EXPECT_EQ(most_seen, limit) << "it was never full: this shows nothing";
  figure("SemaphoreStorm ", GetParam(), ": processes=", started_, " killed=", killed_,
         " permits_taken=", holds, " back_after_ms=", ms(back_after));
}

CASE_ON_SHARED_STORES(SemaphoreStorm);

}  // namespace
}  // namespace holdfast::chaos

// C33: many processes on one store, some of their holds ended by kill -9. Written for SQLite,
// where a reader and a VACUUM are in the way too; holds for every store.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/taker.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/overlap_log.hpp"
#ifdef HOLDFAST_WITH_SQLITE
#include "tests/chaos/sqlite_test_store.hpp"
#endif

#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C33 : public OnEveryStore {
 protected:
  static constexpr Duration ttl = 1s;
  static constexpr int names = 5;

  std::unique_ptr<Taker> worker(int number) {
    return std::make_unique<Taker>(
        store().url(),
        std::vector<std::string>{"--name", "a,b,c,d,e", "--ttl", "1s", "--wait", "20s",
                                 "--hold-up-to", "50ms", "--loop", "forever", "--die-one-in", "20",
                                 "--id", std::to_string(number), "--log", log_});
  }

  // Reads and sweeps while the others work, as an operator and a cron job would.
  void disturb(const std::stop_token& stop) {
    const auto reader = store().connect();
    [[maybe_unused]] Instant sweep = BootClock::now();
    while (!stop.stop_requested()) {
      static_cast<void>(reader->list());
      ++reads_;
      std::this_thread::sleep_for(2ms);
#ifdef HOLDFAST_WITH_SQLITE
      if (GetParam() == "sqlite" && BootClock::now() > sweep) {
        const std::string file = store().url().substr(std::string{"sqlite://"}.size());
        run_sql(file, "PRAGMA wal_checkpoint(TRUNCATE)");
        run_sql(file, "VACUUM");
        sweep = BootClock::now() + short_or_full(1s, 5s);
      }
#endif
    }
  }

  // What each worker told that it should not have.
  static std::string complaint(const Taker& taker) {
    const std::string told = taker.told();
    for (const std::string bad : {"failed", "lost", "released not_owner", "released outcome"}) {
      const auto at = told.find(bad);
      if (at != std::string::npos) {
        return told.substr(at, told.find('\n', at) - at);
      }
    }
    return {};
  }

  test::TempDir dir_{};
  const std::string log_ = (dir_ / "log").string();
  std::atomic<int> reads_{0};
};

TEST_P(C33, Hammer) {
  const int processes = short_or_full(8, 40);
  int started = 0;
  int killed = 0;
  std::vector<std::unique_ptr<Taker>> workers;
  {
    std::jthread disturber{[&](const std::stop_token& stop) { disturb(stop); }};
    const Instant end = BootClock::now() + short_or_full(5s, 60s);
    while (BootClock::now() < end) {
      std::erase_if(workers, [&](const auto& taker) {
        if (taker->process().running()) {
          return false;
        }
        EXPECT_EQ(complaint(*taker), "");
        ++killed;
        return true;
      });
      while (workers.size() < static_cast<std::size_t>(processes)) {
        workers.push_back(worker(++started));
      }
      std::this_thread::sleep_for(20ms);
    }
  }
  for (const auto& taker : workers) {
    EXPECT_EQ(complaint(*taker), "");
    taker->process().signal(SIGKILL);
  }
  const auto client = store().connect();
  const Instant last_kill = BootClock::now();
  workers.clear();
  std::size_t holds = 0;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    std::error_code ec;
    const Lease lease = Mutex{*client, name, {.ttl = ttl}}.acquire({.timeout = 10s}, ec);
    EXPECT_FALSE(ec) << name << ": " << ec.message();
    EXPECT_LE(BootClock::now() - last_kill, ttl + 1s) << name << " stays held";
    const test::OverlapLog log{log_ + "." + name};
    // Who was killed held on for a while: a lease that was handed on lasts 2/3 of a TTL at least.
    EXPECT_EQ(log.check(Duration{ttl / 2}.count()), "") << name;
    holds += log.intervals().size();
  }
  EXPECT_GT(holds, 50U);
  EXPECT_GT(killed, 0);
  EXPECT_GT(reads_, 10);
#ifdef HOLDFAST_WITH_SQLITE
  if (GetParam() == "sqlite") {
    EXPECT_EQ(integrity_of(store().url().substr(std::string{"sqlite://"}.size())), "ok");
  }
#endif
  figure("C33 ", GetParam(), ": processes=", started, " killed=", killed, " holds=", holds,
         " reads=", reads_.load());
}

CASE_ON_SHARED_STORES(C33);

}  // namespace
}  // namespace holdfast::chaos

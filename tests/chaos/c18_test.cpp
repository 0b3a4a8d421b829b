// C18 (2, 3): many waiters cost little and are all served; a dead or stopped waiter at the head of
// the queue holds nobody up, and the order among the living is kept.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/lock_form.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/taker.hpp"
#include "tests/chaos/test_store.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "tests/chaos/redis_test_store.hpp"
#endif

#include <sched.h>
#include <ctime>

#include <atomic>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

double cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

class C18Herd : public OnEveryForm {
 protected:
  // Redis: commands that clients sent, this question not counted. Others: not counted.
  std::int64_t commands() {
#ifdef HOLDFAST_WITH_REDIS
    if (auto* redis = dynamic_cast<RedisTestStore*>(&store())) {
      return redis->server().calls("evalsha");
    }
#endif
    return 0;
  }
};

TEST_P(C18Herd, AllAreServed) {
  const int waiters = short_or_full(40, 200);
  constexpr Duration hold = 20ms;
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  sched_setaffinity(0, sizeof one, &one);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(store().connect());
  }
  const auto in_the_way = make_lock(*clients[0], "job", form(), Part::in_the_way, {.ttl = 30s});
  Lease held = in_the_way->acquire({.timeout = 5s});
  std::atomic<int> served{0};
  std::atomic<int> failed{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < waiters; ++i) {
    threads.emplace_back([&, i] {
      std::error_code ec;
      const auto lock = make_lock(*clients[static_cast<std::size_t>(i) % clients.size()], "job",
                                  form(), Part::tried, {.ttl = 30s});
      const Lease lease = lock->acquire({.timeout = 60s}, ec);
      ++(ec ? failed : served);
      std::this_thread::sleep_for(hold);
    });
  }
  while (clients[0]->inspect("job").waiters.size() < static_cast<std::size_t>(waiters)) {
    std::this_thread::sleep_for(10ms);
  }
  const double cpu_before = cpu_seconds();
  std::this_thread::sleep_for(short_or_full(1s, 10s));
  const double idle_cpu = (cpu_seconds() - cpu_before) / short_or_full(1.0, 10.0);
  const std::int64_t commands_before = commands();
  const Instant start = BootClock::now();
  held.release();
  threads.clear();
  const Duration took = BootClock::now() - start;
  const auto sent = static_cast<double>(commands() - commands_before) / waiters;
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(served, waiters);
  EXPECT_EQ(failed, 0);
  EXPECT_LE(took, waiters * hold + 4s);
  EXPECT_LT(idle_cpu, 0.05) << "waiting costs";
  EXPECT_LE(sent, 5.0) << "commands a hand-off, beats included";
  figure("C18 ", GetParam(), " waiters=", waiters, ": total_ms=", ms(took), " idle_cpu=", idle_cpu,
         " commands_a_hand_off=", sent);
}

CASE_ON_EVERY_FORM(C18Herd);

class C18Queue : public OnEveryStore {
 protected:
  std::unique_ptr<Taker> join(const std::string& hold) {
    auto taker = std::make_unique<Taker>(
        store().url(),
        std::vector<std::string>{"--name", "job", "--ttl", ttl_text_, "--hold", hold});
    EXPECT_TRUE(taker->await(watcher_ ? "waiting" : "granted")) << taker->told();
    return taker;
  }

  // A holds; B, C and D queue; B is killed or stopped; A releases.
  void run(int signal) {
    const auto a = join("forever");
    watcher_ = store().connect();
    const auto b = join("forever");
    const auto c = join("200ms");
    const auto d = join("0");
    ASSERT_EQ(watcher_->inspect("job").waiters.size(), 3U);
    b->process().signal(signal);
    a->order("release");
    const Instant released = BootClock::now();
    ASSERT_TRUE(c->await("granted", 20s)) << c->told();
    const Duration took = BootClock::now() - released;
    EXPECT_LE(took, ttl_ + 1s);
    EXPECT_FALSE(d->await("granted", 1ms)) << "D overtook C";
    ASSERT_TRUE(d->await("granted", 5s)) << d->told();
    EXPECT_GT(d->fence(), c->fence());
    if (signal == SIGSTOP) {
      b->process().signal(SIGCONT);
      // It was handed the name or lost its place; either way it finds out and gets in by asking.
      EXPECT_TRUE(b->await("granted", 10s)) << b->told();
      EXPECT_GT(b->fence(), d->fence()) << "B ran on a grant that had ended";
    }
    figure("C18 ", GetParam(), signal == SIGSTOP ? " stopped" : " killed",
           " head: next_in_after_ms=", ms(took));
  }

  const Duration ttl_ = short_or_full<Duration>(2s, 5s);
  const std::string ttl_text_ = short_or_full("2s", "5s");
  std::unique_ptr<Client> watcher_{};
};

TEST_P(C18Queue, AKilledHeadHoldsNobodyUp) { run(SIGKILL); }
TEST_P(C18Queue, AStoppedHeadHoldsNobodyUp) { run(SIGSTOP); }

CASE_ON_SHARED_STORES(C18Queue);

}  // namespace
}  // namespace holdfast::chaos

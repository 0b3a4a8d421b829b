// R09: several names at once. Nothing is half held and renewed after a failure; different orders
// end neither in a dead-lock nor in a live-lock; a killed process gives nothing away but its TTL.
#include <holdfast/acquire_all.hpp>
#include <holdfast/mutex.hpp>

#include "test_paths.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/overlap_log.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

#include <algorithm>
#include <future>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> names{"a", "b", "c", "d"};

bool all_free(Client& client) {
  return std::ranges::all_of(names, [&](const std::string& name) {
    const NameView view = client.inspect(name);
    return view.holders.empty() && view.waiters.empty();
  });
}

class R09 : public OnEveryStore {
 protected:
  test::ProcessOptions taker(int rounds, int die_one_in, Duration ttl) {
    test::ProcessOptions options;
    options.args = {HOLDFAST_GROUP_TAKER,
                    "--store",
                    store().url(),
                    "--names",
                    "a,b,c,d",
                    "--loop",
                    std::to_string(rounds),
                    "--die-one-in",
                    std::to_string(die_one_in),
                    "--ttl",
                    std::to_string(ttl / 1ms) + "ms",
                    "--log",
                    (dir_ / "log").string()};
    return options;
  }
  // Whoever was killed is inside until the end of its trust, at the latest; the log has its entry,
  // which is a little later than its grant.
  void expect_no_overlap(Duration ttl) {
    for (const std::string& name : names) {
      EXPECT_EQ(
          test::OverlapLog{(dir_ / "log").string() + "." + name}.check((ttl * 8 / 10).count()), "")
          << name;
    }
  }
  bool in_processes() { return store().between_processes(); }

  test::TempDir dir_{};
};
CASE_ON_EVERY_STORE(R09);

TEST_P(R09, EverybodyGetsThroughInWhateverOrder) {
  if (!in_processes()) {
    GTEST_SKIP() << "this store is of one process; the conformance suite has threads";
  }
  const int rounds = short_or_full(25, 400);
  const Instant start = BootClock::now();
  std::vector<std::unique_ptr<test::Process>> takers;
  for (int i = 0; i < short_or_full(4, 8); ++i) {
    takers.push_back(std::make_unique<test::Process>(taker(rounds, 0, 30s)));
  }
  for (const auto& process : takers) {
    EXPECT_EQ(process->wait(short_or_full(60s, 600s)), 0) << process->err();
    const std::string told = process->out();
    EXPECT_EQ(told.find("failed"), std::string::npos) << told;
    EXPECT_EQ(told.find("lost"), std::string::npos) << told;
  }
  const auto took = BootClock::now() - start;
  expect_no_overlap(30s);
  EXPECT_TRUE(test::eventually([&] { return all_free(*store().connect()); }, 3s));
  figure("R09 ", GetParam(), ": groups=", takers.size() * static_cast<std::size_t>(rounds),
         " ms_each=", ms(took) / rounds / static_cast<double>(takers.size()));
}

TEST_P(R09, KilledHoldersCostTheirTtl) {
  if (!in_processes()) {
    GTEST_SKIP() << "this store is of one process";
  }
  constexpr Duration ttl = 1s;
  const Instant end = BootClock::now() + short_or_full<Duration>(6s, 60s);
  std::vector<std::unique_ptr<test::Process>> takers;
  int killed = 0;
  while (BootClock::now() < end) {
    while (takers.size() < 4) {
      takers.push_back(std::make_unique<test::Process>(taker(1000, 20, ttl)));
    }
    std::erase_if(takers, [&](const auto& process) {
      const bool is_over = !process->running();
      killed += is_over ? 1 : 0;
      return is_over;
    });
    test::eventually(
        [&] {
          return !std::ranges::all_of(takers,
                                      [](const auto& process) { return process->running(); });
        },
        500ms);
  }
  takers.clear();  // killed as well
  EXPECT_GT(killed, 0);
  expect_no_overlap(ttl);
  const auto client = store().connect();
  EXPECT_TRUE(test::eventually([&] { return all_free(*client); }, ttl + 6s)) << "by their TTL";
  const LeaseGroup group = acquire_all(*client, names, {}, {.timeout = 0s});
  EXPECT_TRUE(group.valid());
  figure("R09 ", GetParam(), ": killed=", killed);
}

class R09Network : public OnEveryStore {};
CASE_ON_NETWORKED_STORES(R09Network);

// The answers of the try are lost: what it may have got is given back once the store can be heard.
TEST_P(R09Network, WhatALostAnswerGrantedIsGivenBack) {
  const auto watcher = store().connect();
  const auto link = store().link();
  const auto client = link->connect();
  { const LeaseGroup warm = acquire_all(*client, names); }
  link->fault(Fault::swallow);
  std::error_code code;
  const LeaseGroup group = acquire_all(*client, names, {}, {.timeout = 1s}, code);
  EXPECT_EQ(code, failure::transient) << code.message();
  link->fault(Fault::pass);
  const Instant healed = BootClock::now();
  EXPECT_TRUE(test::eventually([&] { return all_free(*watcher); }, 10s));
  const Duration took = BootClock::now() - healed;
  EXPECT_LT(took, 4s) << "long before the TTL of 30 s";
  figure("R09 ", GetParam(), " lost answer: free_after_ms=", ms(took));
}

// One of the names is busy and the network fails while we wait for it: nothing is half held.
TEST_P(R09Network, AFailureWhileWaitingLeavesNothing) {
  const auto watcher = store().connect();
  Lease theirs = Mutex(*watcher, "c").acquire();
  const auto link = store().link();
  const auto client = link->connect();
  auto waiting = std::async(std::launch::async, [&] {
    std::error_code code;
    const LeaseGroup group = acquire_all(*client, names, {}, {.timeout = 3s}, code);
    return code;
  });
  ASSERT_TRUE(test::eventually([&] { return watcher->inspect("c").waiters.size() == 1; }));
  link->fault(Fault::blackhole);
  theirs.release();
  EXPECT_TRUE(waiting.get());
  link->fault(Fault::pass);
  EXPECT_TRUE(test::eventually([&] { return all_free(*watcher); }, 10s));
}

}  // namespace
}  // namespace holdfast::chaos

// acquire_all(): several names at once, all or none, on every store.
#include "tests/conformance/client_test.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace holdfast::conformance {
namespace {

using Names = std::vector<std::string>;

class AcquireAll : public ClientTest {
 protected:
  bool all_free(const Names& names) {
    return std::ranges::all_of(names, [this](const std::string& name) { return is_free(name); });
  }
  static std::error_code refusal(Client& client, const Names& names) {
    std::error_code ec;
    const LeaseGroup group = acquire_all(client, names, {}, {.timeout = 0s}, ec);
    EXPECT_EQ(!group, static_cast<bool>(ec));
    return ec;
  }
};
HOLDFAST_ON_EVERY_CLIENT(AcquireAll);

TEST_P(AcquireAll, HoldsEachWithAFenceOfItsOwn) {
  const Names names{"c", "a", "b"};
  LeaseGroup group = acquire_all(client(), names);
  ASSERT_EQ(group.leases().size(), 3U);
  EXPECT_TRUE(group.valid());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Lease& lease = group.leases()[i];
    EXPECT_EQ(lease.name(), names[i]);
    EXPECT_EQ(other().inspect(names[i]).holders.at(0).fence, lease.fence());
    EXPECT_GE(lease.trusted_until(), group.trusted_until());
  }
  EXPECT_FALSE(Mutex(other(), "b").try_acquire());
  group.release();
  EXPECT_FALSE(group);
  EXPECT_TRUE(group.leases().empty());
  EXPECT_TRUE(all_free(names));
  group.release();
}

TEST_P(AcquireAll, NothingIsLeftWhenOneIsBusy) {
  const Lease theirs = Mutex(other(), "b").acquire();
  EXPECT_EQ(refusal(client(), {"a", "b", "c"}), errc::busy);
  EXPECT_TRUE(test::eventually([&] { return all_free({"a", "c"}); }));
  EXPECT_TRUE(other().inspect("b").waiters.empty());
}

TEST_P(AcquireAll, WaitsUntilAllAreFree) {
  Lease one = Mutex(other(), "a").acquire();
  Lease two = Mutex(other(), "c").acquire();
  auto waiting = std::async(std::launch::async, [&] {
    return acquire_all(client(), {"a", "b", "c"}, {}, {.timeout = 10s});
  });
  ASSERT_TRUE(test::eventually([&] { return other().inspect("a").waiters.size() == 1; }));
  EXPECT_TRUE(is_free("b")) << "whoever waits holds nothing";
  one.release();
  ASSERT_TRUE(test::eventually([&] { return other().inspect("c").waiters.size() == 1; }));
  EXPECT_TRUE(test::eventually([&] { return all_free({"a", "b"}); })) << "given back";
  two.release();
  const LeaseGroup group = waiting.get();
  EXPECT_TRUE(group.valid());
}

TEST_P(AcquireAll, AWaitThatEndsLeavesNothing) {
  const Lease theirs = Mutex(other(), "b").acquire();
  std::error_code ec;
  const LeaseGroup group = acquire_all(client(), {"a", "b"}, {}, {.timeout = 300ms}, ec);
  EXPECT_EQ(ec, errc::timed_out);
  EXPECT_TRUE(test::eventually([&] { return is_free("a"); }));
  EXPECT_TRUE(test::eventually([&] { return other().inspect("b").waiters.empty(); }));
}

TEST_P(AcquireAll, AStopEndsTheWait) {
  const Lease theirs = Mutex(other(), "b").acquire();
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    std::error_code ec;
    const LeaseGroup group = acquire_all(client(), {"a", "b"}, {}, {.stop = stop.get_token()}, ec);
    return ec;
  });
  ASSERT_TRUE(await_waiters("b", 1));
  stop.request_stop();
  EXPECT_EQ(waiting.get(), errc::cancelled);
  EXPECT_TRUE(test::eventually([&] { return other().inspect("b").waiters.empty(); }));
  std::error_code ec;
  EXPECT_FALSE(acquire_all(client(), {"a"}, {}, {.stop = stop.get_token()}, ec));
  EXPECT_EQ(ec, errc::cancelled);
}

TEST_P(AcquireAll, AllAreRenewed) {
  const LeaseGroup group = acquire_all(client(), {"a", "b"}, {.ttl = 600ms});
  const Instant first = group.trusted_until();
  EXPECT_TRUE(recorder().await(Event::Kind::renewed, 6));
  EXPECT_GT(group.trusted_until(), first + 300ms);
  EXPECT_TRUE(group.valid());
}

TEST_P(AcquireAll, TheLossOfOneIsTold) {
  LeaseGroup group = acquire_all(client(), {"a", "b"}, {.ttl = 600ms});
  std::atomic<bool> told{false};
  const std::stop_callback on_lost{group.lost(), [&] { told = true; }};
  EXPECT_FALSE(group.why_lost());
  other().break_name("b", BreakMode::now);
  EXPECT_TRUE(test::eventually([&] { return told.load(); }));
  EXPECT_EQ(group.why_lost(), errc::taken);
  EXPECT_FALSE(group.valid());
  EXPECT_TRUE(group.leases()[0].valid()) << "until the group is released";
  std::error_code ec;
  group.release(ec);
  EXPECT_EQ(ec, errc::taken);
  EXPECT_TRUE(is_free("a"));
}

TEST_P(AcquireAll, TheEndOfItsScopeReleasesAndIsNoLoss) {
  std::atomic<bool> told{false};
  std::stop_token lost;
  {
    LeaseGroup group = acquire_all(client(), {"a", "b"});
    LeaseGroup moved = std::move(group);
    EXPECT_TRUE(moved.valid());
    lost = moved.lost();
  }
  EXPECT_TRUE(all_free({"a", "b"}));
  EXPECT_FALSE(lost.stop_requested());
}

TEST_P(AcquireAll, AThreadIsToldThatItWaitsForItself) {
  const Lease ours = Mutex(client(), "b").acquire();
  std::error_code ec;
  const LeaseGroup group = acquire_all(client(), {"a", "b"}, {}, {.timeout = 10s}, ec);
  EXPECT_EQ(ec, errc::would_deadlock);
}

TEST_P(AcquireAll, WhatCannotBeIsRefused) {
  EXPECT_EQ(refusal(client(), {}), errc::invalid_options);
  EXPECT_EQ(refusal(client(), {"a", "b", "a"}), errc::invalid_options);
  EXPECT_EQ(refusal(client(), {"a", ""}), errc::invalid_name);
  Names many;
  for (int i = 0; i < 101; ++i) {
    many.push_back("n" + std::to_string(i));
  }
  EXPECT_EQ(refusal(client(), many), errc::invalid_options);
  many.pop_back();
  EXPECT_FALSE(refusal(client(), many));
}

TEST_P(AcquireAll, AfterTheClientIsClosed) {
  LeaseGroup group = acquire_all(client(), {"a", "b"});
  client().close();
  EXPECT_TRUE(all_free({"a", "b"}));
  EXPECT_FALSE(group.valid());
  std::error_code ec;
  group.release(ec);
  EXPECT_EQ(refusal(client(), {"a"}), errc::closed);
}

TEST_P(AcquireAll, ClosingTheClientEndsTheWait) {
  const Lease theirs = Mutex(other(), "b").acquire();
  auto waiting = std::async(std::launch::async, [&] {
    std::error_code ec;
    const LeaseGroup group = acquire_all(client(), {"a", "b"}, {}, {}, ec);
    return ec;
  });
  ASSERT_TRUE(await_waiters("b", 1));
  client().close();
  EXPECT_EQ(waiting.get(), errc::closed);
  EXPECT_TRUE(other().inspect("b").waiters.empty());
}

// Four threads on two clients, each with its own order, and nothing but two names between them.
TEST_P(AcquireAll, NoOrderOfNamesKeepsAnybodyOut) {
  constexpr int rounds = 15;
  std::atomic<int> inside{0};
  std::atomic<int> done{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Client& mine = i % 2 == 0 ? client() : other();
      const Names names = i < 2 ? Names{"a", "b"} : Names{"b", "a"};
      for (int round = 0; round < rounds; ++round) {
        const LeaseGroup group = acquire_all(mine, names, {}, {.timeout = 20s});
        EXPECT_EQ(++inside, 1);
        --inside;
        ++done;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(done, 4 * rounds);
  EXPECT_TRUE(test::eventually([&] { return all_free({"a", "b"}); }));
}

}  // namespace
}  // namespace holdfast::conformance

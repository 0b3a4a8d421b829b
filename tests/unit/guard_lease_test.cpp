// What ties a guard to a lease, and the once guard in memory.
#include <holdfast/guard.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

struct FakeLease {
  std::string name() const { return "payout"; }
  Fence fence() const { return number; }
  Fence floor() const { return lowest; }
  void report_stale() { ++reports; }

  Fence number{5};
  Fence lowest{5};
  int reports = 0;
};

TEST(GuardLease, AdmitsWhatTheLeaseCarries) {
  MemoryGuard guard;
  FakeLease lease{.number = Fence{5}, .lowest = Fence{3}};
  admit_lease(guard, "ledger", lease);
  std::error_code ec = errc::busy;
  guard.admit("ledger", "payout", Fence{3}, Fence{3}, ec);
  EXPECT_FALSE(ec) << "the mark is the floor";
  guard.admit("ledger", "another", Fence{9}, Fence{9}, ec);
  EXPECT_EQ(ec, errc::invalid_options) << "the name was handed on";
  admit_lease(guard, "ledger", lease, ec);
  EXPECT_FALSE(ec);
  EXPECT_EQ(lease.reports, 0);
}

TEST(GuardLease, ARefusalIsReportedToTheLease) {
  MemoryGuard guard;
  guard.admit("ledger", "payout", Fence{6});
  FakeLease lease;
  EXPECT_THROW(admit_lease(guard, "ledger", lease), Error);
  EXPECT_EQ(lease.reports, 1);
  std::error_code ec;
  admit_lease(guard, "ledger", lease, ec);
  EXPECT_EQ(ec, errc::stale_fence);
  EXPECT_EQ(lease.reports, 2);
}

TEST(GuardLease, OnlyAStaleFenceIsReported) {
  MemoryGuard guard;
  guard.admit("ledger", "another", Fence{1});
  FakeLease lease;
  EXPECT_THROW(admit_lease(guard, "ledger", lease), Error);
  std::error_code ec;
  admit_lease(guard, "ledger", lease, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  EXPECT_THROW(reporting_stale(lease, [] { throw Error{errc::already_written, ""}; }), Error);
  EXPECT_EQ(lease.reports, 0);
  EXPECT_EQ(reporting_stale(lease, [] { return 7; }), 7);
}

TEST(MemoryOnce, ARepeatGetsTheFirstResult) {
  MemoryOnce once;
  EXPECT_TRUE(once.take("k", Fence{4}).first);
  EXPECT_FALSE(once.take("k").first);
  EXPECT_FALSE(once.take("k").result);
  once.keep("k", "receipt");
  const OnceAnswer repeat = once.take("k", Fence{5});
  EXPECT_EQ(repeat.result, "receipt");
  EXPECT_EQ(repeat.fence, Fence{4});
  EXPECT_TRUE(once.take("other").first);
  once.forget("k");
  once.forget("never taken");
  EXPECT_TRUE(once.take("k").first);
}

TEST(MemoryOnce, SaysWhatIsWrong) {
  MemoryOnce once;
  std::error_code ec;
  once.take("", Fence{1}, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  EXPECT_THROW(once.take("k", Fence{-1}), Error);
  EXPECT_THROW(once.keep("k", "r"), Error);
  EXPECT_TRUE(once.take("k", Fence{1}, ec).first);
  EXPECT_FALSE(ec);
  once.keep("k", "r", ec);
  EXPECT_FALSE(ec);
  once.keep("k", "r", ec);
  EXPECT_EQ(ec, errc::already_written);
}

TEST(MemoryOnce, OneOfManyDoesIt) {
  MemoryOnce once;
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int key = 0; key < 500; ++key) {
        if (once.take(std::to_string(key)).first) ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 500);
}

}  // namespace
}  // namespace holdfast

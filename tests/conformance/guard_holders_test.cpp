// Guards together with the leases that bring the fences.
#include "tests/conformance/guarded_ledger.hpp"
#include "tests/support/eventually.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

namespace holdfast::guard_tests {
namespace {

// What admit_lease() asks of a guard, on any storage.
struct AsGuard {
  void admit(std::string_view resource, std::string_view name, Fence fence, Fence floor,
             std::error_code& ec) const {
    ec = ledger.admit({.name = std::string(name), .fence = fence, .floor = floor},
                      std::string(resource));
  }
  GuardedLedger& ledger;
};

TEST_P(C39, ARefusalIsTheLossOfTheLease) {
  Client client{"memory:"};
  Mutex mutex{client, "payout"};
  Lease lease = mutex.acquire();
  AsGuard guard{*ledger};
  std::error_code ec;
  admit_lease(guard, "ledger", lease, ec);
  EXPECT_FALSE(ec);
  EXPECT_TRUE(lease.valid());
  EXPECT_FALSE(append(to_int(lease.fence()) + 1)) << "a newer holder";
  admit_lease(guard, "ledger", lease, ec);
  EXPECT_EQ(ec, errc::stale_fence);
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(test::eventually([&] { return lease.lost().stop_requested(); }));
  EXPECT_EQ(lease.why_lost(), errc::stale_fence);
}

TEST_P(C39, ReadersThatAreInsideTogetherPassOneAnother) {
  Client client{"memory:"};
  SharedMutex mutex{client, "payout"};
  const auto write = [&](const Lease& lease) {
    return ledger->append(stamp_of(lease), "ledger", 1);
  };
  Lease gone = mutex.acquire_shared();
  const Stamp late = stamp_of(gone);
  gone.release();
  Lease first = mutex.acquire_shared();
  Lease second = mutex.acquire_shared();
  ASSERT_LT(first.fence(), second.fence());
  EXPECT_FALSE(write(second));
  EXPECT_FALSE(write(first)) << "its fence is lower, but it is inside";
  EXPECT_EQ(ledger->append(late, "ledger", 1), errc::stale_fence) << "this one had left before";
  const Stamp reader = stamp_of(second);
  first.release();
  second.release();
  const Lease writer = mutex.acquire();
  EXPECT_FALSE(write(writer));
  EXPECT_EQ(ledger->append(reader, "ledger", 1), errc::stale_fence);
}

TEST_P(C39, HoldersOfPermitsPassOneAnother) {
  Client client{"memory:"};
  Semaphore slots{client, "payout", 3};
  std::vector<Lease> inside;
  for (int i = 0; i < 3; ++i) inside.push_back(slots.acquire());
  for (const int turn : {2, 0, 1, 0, 2}) {
    EXPECT_FALSE(ledger->append(stamp_of(inside[static_cast<std::size_t>(turn)]), "ledger", 1));
  }
  const Stamp late = stamp_of(inside[0]);
  inside[0].release();
  inside[1].release();
  const Lease next = slots.acquire();
  EXPECT_FALSE(ledger->append(stamp_of(next), "ledger", 1));
  EXPECT_EQ(ledger->append(late, "ledger", 1), errc::stale_fence)
      << "all that are inside are newer";
  EXPECT_FALSE(ledger->append(stamp_of(inside[2]), "ledger", 1));
}

}  // namespace
}  // namespace holdfast::guard_tests

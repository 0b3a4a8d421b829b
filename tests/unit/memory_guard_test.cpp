#include <holdfast/guard.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace holdfast {
namespace {

std::error_code admit(MemoryGuard& guard, std::string_view resource, std::string_view name,
                      std::int64_t fence, std::int64_t floor = 0) {
  std::error_code ec = errc::busy;  // must be overwritten
  guard.admit(resource, name, Fence{fence}, Fence{floor}, ec);
  return ec;
}

TEST(MemoryGuard, RefusesWhatIsBelowTheMark) {
  MemoryGuard guard;
  EXPECT_FALSE(admit(guard, "ledger", "payout", 10));
  EXPECT_FALSE(admit(guard, "ledger", "payout", 10)) << "one holder may write often";
  EXPECT_FALSE(admit(guard, "ledger", "payout", 11));
  EXPECT_EQ(admit(guard, "ledger", "payout", 10), errc::stale_fence);
  EXPECT_FALSE(admit(guard, "other", "payout", 1)) << "resources are independent";
}

TEST(MemoryGuard, FloorLetsLiveFencesPassOneAnother) {
  MemoryGuard guard;
  EXPECT_FALSE(admit(guard, "r", "n", 12, 10));
  EXPECT_FALSE(admit(guard, "r", "n", 11, 10));
  EXPECT_EQ(admit(guard, "r", "n", 9, 9), errc::stale_fence);
  EXPECT_FALSE(admit(guard, "r", "n", 13, 13));
  EXPECT_EQ(admit(guard, "r", "n", 12, 10), errc::stale_fence);
}

TEST(MemoryGuard, RefusesWhatIsNoFence) {
  MemoryGuard guard;
  EXPECT_EQ(admit(guard, "r", "n", 0), errc::invalid_options);
  EXPECT_EQ(admit(guard, "r", "n", -5), errc::invalid_options);
  EXPECT_EQ(admit(guard, "r", "n", 5, 6), errc::invalid_options);
  EXPECT_EQ(admit(guard, "r", "n", 5, -1), errc::invalid_options);
  EXPECT_EQ(admit(guard, "r", "", 5), errc::invalid_options);
  EXPECT_FALSE(admit(guard, "r", "n", 1)) << "nothing of the above left a mark";
  EXPECT_EQ(admit(guard, "r", "m", 2), errc::invalid_options) << "another lock's name";
  EXPECT_FALSE(admit(guard, "r", "n", std::numeric_limits<std::int64_t>::max()));
}

TEST(MemoryGuard, ThrowsWhatTheOtherFormReports) {
  MemoryGuard guard;
  guard.admit("r", "n", Fence{2});
  try {
    guard.admit("r", "n", Fence{1});
    FAIL() << "a stale fence was admitted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::stale_fence);
    EXPECT_EQ(error.code(), failure::ownership_lost);
  }
}

}  // namespace
}  // namespace holdfast

// C21: a permit that is given back twice, or by somebody else, is no second permit. Workers that
// are killed are in semaphore_storm_test.cpp.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/test_store.hpp"

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C21 : public OnEveryStore {
 protected:
  static constexpr Duration ttl = 2s;
};

TEST_P(C21, ForeignAndDoubleReleasesGiveNothingBack) {
  const auto client = store().connect();
  const auto other = store().connect();
  Semaphore pool{*client, "pool", 2, {.ttl = ttl}};
  Semaphore theirs{*other, "pool", 2, {.ttl = ttl}};
  Lease a = pool.acquire();
  const Lease b = theirs.acquire();
  a.release();
  std::error_code ec;
  a.release(ec);
  Lease c = pool.acquire();
  EXPECT_FALSE(theirs.try_acquire());
  c.abandon();
  c.release(ec);
  EXPECT_FALSE(theirs.try_acquire()) << "what was abandoned lasts to its TTL";
  EXPECT_TRUE(b.valid());
  EXPECT_EQ(client->inspect("pool").holders.size(), 2U);
}

CASE_ON_EVERY_STORE(C21);

}  // namespace
}  // namespace holdfast::chaos

// From writer to reader while the network fails: what was not answered may be tried again, and at
// no moment is there a writer beside.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class Downgrade : public OnEveryStore {
 protected:
  std::error_code downgraded(SharedMutex& mutex, Lease& lease) {
    try {
      mutex.downgrade(lease);
      return {};
    } catch (const Error& error) {
      return error.code();
    }
  }
};

TEST_P(Downgrade, WhoseAnswerIsLost) {
  const auto link = store().link();
  const auto a = link->connect();
  const auto b = store().connect();
  SharedMutex ours{*a, "doc", {.ttl = 30s}};
  SharedMutex theirs{*b, "doc", {.ttl = 30s}};
  Lease lease = ours.acquire({.timeout = 5s});
  const Fence fence = lease.fence();
  link->fault(Fault::swallow);
  const Instant asked = BootClock::now();
  EXPECT_EQ(downgraded(ours, lease), failure::transient);
  EXPECT_LE(BootClock::now() - asked, 3s);
  EXPECT_TRUE(lease.valid()) << "a writer's or a reader's, but held";
  EXPECT_FALSE(theirs.try_acquire());
  link->fault(Fault::pass);
  link->reset();
  std::error_code code;
  do {  // the connection is made anew
    code = downgraded(ours, lease);
  } while (code == failure::transient && BootClock::now() - asked < 10s);
  EXPECT_FALSE(code) << code.message();
  EXPECT_EQ(lease.fence(), fence);
  const std::optional<Lease> beside = theirs.try_acquire_shared();
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->floor(), fence);
  EXPECT_FALSE(theirs.try_acquire());
  EXPECT_TRUE(lease.valid());
}

TEST_P(Downgrade, ThatNeverReachedTheStore) {
  const auto link = store().link();
  const auto a = link->connect();
  const auto b = store().connect();
  SharedMutex ours{*a, "doc", {.ttl = 30s}};
  SharedMutex theirs{*b, "doc", {.ttl = 30s}};
  Lease lease = ours.acquire({.timeout = 5s});
  link->fault(Fault::refuse);
  link->reset();
  EXPECT_EQ(downgraded(ours, lease), failure::transient);
  EXPECT_TRUE(lease.valid());
  EXPECT_FALSE(theirs.try_acquire_shared()) << "still a writer's";
}

CASE_ON_EVERY_STORE(Downgrade);

}  // namespace
}  // namespace holdfast::chaos

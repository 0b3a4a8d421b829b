// C05 (second form) in the library: the server is stopped and continued.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/contender.hpp"
#include "tests/chaos/redis_test_store.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/support/required.hpp"
#include "tests/support/temp_dir.hpp"

#include <future>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

TEST(C05Redis, TheServerIsFrozen) {
  HOLDFAST_NEEDS("redis", test::RedisServer::installed(), test::RedisServer::how_to_install);
  RedisTestStore store;
  test::TempDir dir;
  test::OverlapLog log{dir / "overlap.log"};
  const auto a = store.connect({});
  const auto b = store.connect({});
  Mutex mutex{*a, "job", {.ttl = 4s}};
  Lease lease = mutex.acquire({.timeout = 5s});
  std::promise<void> lost;
  std::stop_callback on_lost{lease.lost(), [&] { lost.set_value(); }};
  LossLog mine{lease, log};
  Contender contender{*b, "job", {.ttl = 4s}, 20ms, log};
  std::this_thread::sleep_for(1s);
  const Instant trusted = lease.trusted_until();
  store.server().freeze();
  ASSERT_EQ(lost.get_future().wait_for(8s), std::future_status::ready);
  // A renewal that was answered while the server froze moves the end of trust once more.
  // 100 ms of the margin are for the load that other tests put on this machine.
  EXPECT_LE(mine.told_at(), lease.trusted_until() + 100ms);
  EXPECT_GE(mine.told_at(), trusted - 250ms);
  EXPECT_EQ(lease.why_lost(), errc::expired);
  std::this_thread::sleep_for(short_or_full(1s, 6s));
  EXPECT_EQ(contender.grants(), 0) << "granted by a frozen server";
  store.server().thaw();
  const Instant thawed = BootClock::now();
  while (contender.grants() == 0 && BootClock::now() < thawed + 10s) {
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_GE(contender.grants(), 1);
  contender.stop();
  // What A had sent to the frozen server gives it nothing: the lock comes back as a new grant only.
  const Fence before = lease.fence();
  const Lease again = mutex.acquire({.timeout = 10s});
  EXPECT_GT(again.fence(), before);
  EXPECT_EQ(mine.losses(), 1);
  EXPECT_EQ(log.check(), "");
  figure("C05 redis frozen: contender in after the thaw, grants=", contender.grants());
}

}  // namespace
}  // namespace holdfast::chaos

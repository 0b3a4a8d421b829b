// C22 (1, 5): the script cache is emptied, and a server without persistence is restarted, while a
// lease is held.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/redis_test_store.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/support/required.hpp"

#include <future>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C22Redis : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", test::RedisServer::installed(), test::RedisServer::how_to_install);
    store_ = std::make_unique<RedisTestStore>();
    a_ = store_->connect({});
    b_ = store_->connect({});
  }
  std::unique_ptr<RedisTestStore> store_{};
  std::unique_ptr<Client> a_{};
  std::unique_ptr<Client> b_{};
};

TEST_F(C22Redis, FlushedScriptsAreNobodysProblem) {
  Mutex mine{*a_, "job", {.ttl = 1500ms}};
  Mutex theirs{*b_, "job", {.ttl = 1500ms}};
  Lease lease = mine.acquire({.timeout = 5s});
  std::promise<Fence> next;
  theirs.start_acquire({.timeout = 30s}, [&](std::error_code ec, Lease won) {
    EXPECT_FALSE(ec) << ec.message();
    next.set_value(won.fence());
    won.release(ec);
    EXPECT_FALSE(ec) << ec.message();
  });
  const Instant end = BootClock::now() + 3s;
  while (BootClock::now() < end) {
    store_->server().command({"SCRIPT", "FLUSH"});
    std::this_thread::sleep_for(100ms);
    ASSERT_TRUE(lease.valid()) << lease.why_lost().message();
  }
  EXPECT_GE(a_->counters().renewed, 4U);
  EXPECT_EQ(a_->counters().renewals_failed, 0U);
  const Fence fence = lease.fence();
  store_->server().command({"SCRIPT", "FLUSH"});
  lease.release();
  EXPECT_GT(next.get_future().get(), fence);
}

// B gets the name that the restarted server forgot: A hears of it, and the fences tell them apart.
TEST_F(C22Redis, RestartWithoutPersistence) {
  constexpr Duration ttl = 5s;
  Mutex mine{*a_, "job", {.ttl = ttl}};
  Mutex theirs{*b_, "job", {.ttl = ttl}};
  Lease lease = mine.acquire({.timeout = 5s});
  std::promise<Instant> lost;
  std::stop_callback on_lost{lease.lost(), [&] { lost.set_value(BootClock::now()); }};
  store_->server().kill_hard();
  store_->server().start();
  const Instant back = BootClock::now();
  Lease next = theirs.acquire({.timeout = 5s});
  auto told = lost.get_future();
  ASSERT_EQ(told.wait_for(2 * ttl), std::future_status::ready);
  const Duration took = told.get() - back;
  EXPECT_LE(took, ttl / 3 + 250ms);
  EXPECT_EQ(lease.why_lost(), errc::taken);
  EXPECT_GT(next.fence(), lease.fence());
  EXPECT_TRUE(next.valid());
  std::error_code ec;
  lease.release(ec);
  EXPECT_EQ(ec, errc::taken);
  EXPECT_EQ(b_->inspect("job").holders.at(0).owner, next.owner()) << "B's lock was touched";
  figure("C22 redis restart: told_after_ms=", ms(took));
}

}  // namespace
}  // namespace holdfast::chaos

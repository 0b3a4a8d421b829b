// C16 (1): the connection that brings wake-ups dies while its owner waits.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/redis_test_store.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/support/required.hpp"

#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

TEST(C16Redis, TheSubscriptionIsKilled) {
  HOLDFAST_NEEDS("redis", test::RedisServer::installed(), test::RedisServer::how_to_install);
  RedisTestStore store;
  const auto a = store.connect({});
  const auto b = store.connect({});
  Mutex theirs{*a, "job", {.ttl = 60s}};
  Mutex mine{*b, "job", {.ttl = 60s}};
  Duration longest{};
  for (int round = 0; round < short_or_full(5, 50); ++round) {
    Lease held = theirs.acquire({.timeout = 5s});
    Instant released{};
    std::jthread other{[&] {
      while (a->inspect("job").waiters.empty()) {
        std::this_thread::sleep_for(1ms);
      }
      std::this_thread::sleep_for(short_or_full(50ms, 500ms));
      EXPECT_NE(store.server().command({"CLIENT", "KILL", "TYPE", "pubsub"}), "0");
      released = BootClock::now();
      held.release();
    }};
    const Lease won = mine.acquire({.timeout = 120s});
    other.join();
    longest = std::max(longest, BootClock::now() - released);
  }
  EXPECT_LE(longest, 2s + 250ms);
  figure("C16 redis subscription killed: in_after_ms=", ms(longest));
}

}  // namespace
}  // namespace holdfast::chaos

// C17 on Redis: real servers that are down, frozen, deaf or loading, names that do not resolve, and
// handshakes that stall. All at once, as all of them only wait.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/redis_test_store.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/support/free_port.hpp"
#include "tests/support/net_client.hpp"
#include "tests/support/odd_server.hpp"
#include "tests/support/required.hpp"

#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C17Redis : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", test::RedisServer::installed(), test::RedisServer::how_to_install);
  }

  // Nobody can be reached at `url`; each form of the wait must end in its time and say so.
  static void expect_in_time(const std::string& what, const std::string& url) {
    Client client{url};
    Mutex mutex{client, "job", {.ttl = 30s}};
    for (const Duration wait : {Duration{2s}, Duration{0s}}) {
      std::error_code ec;
      const Instant start = BootClock::now();
      const Lease none = mutex.acquire({.timeout = wait}, ec);
      const Duration took = BootClock::now() - start;
      EXPECT_GE(took, wait) << what;
      EXPECT_LE(took, wait == 0s ? 2s + 250ms : wait + 500ms) << what;
      EXPECT_EQ(ec, failure::transient) << what << ": " << ec.message();
      figure("C17 redis ", what, " wait=", ms(wait), ": ", ms(took), " ms, ", ec.message());
    }
    const Instant start = BootClock::now();
    client.close();
    EXPECT_LE(BootClock::now() - start, 2s + 250ms) << what;
  }
};

TEST_F(C17Redis, WhateverIsWrongFromTheStart) {
  test::RedisServer frozen;
  frozen.freeze();
  const test::DeafListener deaf{"127.0.0.1"};
  test::SilentPeer stalled{test::SilentPeer::Protocol::tcp};
  test::SilentPeer mute{test::SilentPeer::Protocol::tcp};
  const std::string local = "://127.0.0.1:";
  std::vector<std::jthread> threads;
  for (const auto& [what, url] : std::vector<std::pair<std::string, std::string>>{
           {"refused", "redis" + local + std::to_string(test::free_port())},
           {"frozen", frozen.url()},
           {"deaf", "redis" + local + std::to_string(deaf.port())},
           {"unresolvable", "redis://no-such-host.invalid:6379"},
           {"tls stalls", "rediss" + local + std::to_string(stalled.port())},
           {"mute", "redis" + local + std::to_string(mute.port())},
           {"no socket", "redis+unix:///nonexistent/redis.sock"}}) {
    threads.emplace_back([what = what, url = url] { expect_in_time(what, url); });
  }
  threads.clear();
  frozen.thaw();
}

// A replica that cannot load its dataset answers LOADING to everything; so does any server for as
// long as it loads.
TEST_F(C17Redis, AServerThatIsLoading) {
  const test::OddServer loading{"-LOADING Redis is loading the dataset in memory\r\n"};
  Client client{loading.url()};
  std::error_code ec;
  const Instant start = BootClock::now();
  const Lease none = Mutex{client, "job"}.acquire({.timeout = 2s}, ec);
  EXPECT_GE(BootClock::now() - start, 2s);
  EXPECT_LE(BootClock::now() - start, 2s + 500ms);
  EXPECT_EQ(ec, failure::transient) << ec.message();
}

TEST_F(C17Redis, TheServerFailsInMidWaitAndComesBack) {
  test::RedisServer server;
  Client holder{server.url()};
  Client client{server.url()};
  Lease held = Mutex{holder, "job", {.ttl = 60s}}.acquire({.timeout = 5s});
  Mutex mutex{client, "job", {.ttl = 30s}};
  for (const bool frozen : {true, false}) {
    std::jthread breaker{[&] {
      std::this_thread::sleep_for(1s);
      frozen ? server.freeze() : server.kill_hard();
    }};
    std::error_code ec;
    const Instant start = BootClock::now();
    const Lease none = mutex.acquire({.timeout = 2s}, ec);
    const Duration took = BootClock::now() - start;
    EXPECT_GE(took, 2s);
    EXPECT_LE(took, 2s + 500ms);
    EXPECT_EQ(ec, failure::transient) << ec.message();
    breaker.join();
    frozen ? server.thaw() : server.start();
  }
  held.abandon();  // the restarted server has forgotten it
  EXPECT_TRUE(mutex.acquire({.timeout = 5s}).valid()) << "needs a restart";
}

// An attempt must not fail for what was wrong with the server some time ago.
TEST_F(C17Redis, TheFirstAttemptAfterAnOutageWorks) {
  for (const bool frozen : {true, false}) {
    test::RedisServer server;
    Client client{server.url()};
    Mutex mutex{client, "job", {.ttl = 30s}};
    frozen ? server.freeze() : server.kill_hard();
    std::error_code ec;
    // Its first request is still on its way to being made when the wait ends.
    Lease none = mutex.acquire({.timeout = 1s}, ec);
    EXPECT_EQ(ec, failure::transient) << ec.message();
    frozen ? server.thaw() : server.start();
    std::this_thread::sleep_for(2s);  // longer than any request of the outage lives
    EXPECT_TRUE(mutex.try_acquire(ec).has_value()) << frozen << ": " << ec.message();
  }
}

TEST_F(C17Redis, AnAttemptToConnectThatWasLeftBehindIsNoVerdict) {
  RedisTestStore store;
  const auto link = store.link();
  const auto client = link->connect();
  Mutex mutex{*client, "job", {.ttl = 30s}};
  link->fault(Fault::blackhole);
  std::error_code ec;
  Lease none = mutex.acquire({.timeout = 1s}, ec);
  EXPECT_EQ(ec, failure::transient) << ec.message();
  link->reset();
  link->fault(Fault::pass);
  std::this_thread::sleep_for(2s);
  EXPECT_TRUE(mutex.try_acquire(ec).has_value()) << ec.message();
}

}  // namespace
}  // namespace holdfast::chaos

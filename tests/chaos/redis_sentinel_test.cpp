// C22 (2-4), Sentinel: failovers with and without a lost lock, one after the other, and what each
// side hears of them.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/redis_sentinels.hpp"
#include "tests/support/required.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <memory>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;
using test::RedisSentinels;
using test::RedisServer;

class C22Sentinel : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", RedisSentinels::installed(), RedisSentinels::how_to_install);
  }
  // One group for all tests of the process: it takes seconds until sentinels know each other.
  static RedisSentinels& group() {
    static RedisSentinels sentinels;
    return sentinels;
  }
  static std::unique_ptr<Client> connect(const std::string& options = "") {
    return std::make_unique<Client>(group().url() + options);
  }
  static RedisServer& replica() {
    return &group().primary() == &group().server(0) ? group().server(1) : group().server(0);
  }
  static void await_replicated(const std::string& key) {
    ASSERT_TRUE(test::eventually([&] { return replica().command({"EXISTS", key}) == "1"; }));
  }
  // From now on nothing that is written reaches the replica.
  static void cut_replication() {
    replica().freeze();
    group().primary().command({"CLIENT", "KILL", "TYPE", "replica"});
  }
  // The frozen primary comes back, and is a replica soon.
  static void heal(RedisServer& frozen) {
    frozen.thaw();
    group().await_agreement();
  }
};

TEST_F(C22Sentinel, AReplicatedLeaseIsKeptThroughAFailover) {
  const auto client = connect();
  Mutex mutex{*client, "kept", {.ttl = 5s}};
  Lease lease = mutex.acquire({.timeout = 5s});
  const Fence fence = lease.fence();
  await_replicated("lock:kept");
  RedisServer& old = group().primary();
  old.freeze();
  RedisServer& promoted = group().await_promotion();
  const std::uint64_t renewed = client->counters().renewed;
  EXPECT_TRUE(test::eventually([&] { return client->counters().renewed > renewed; }, 5s))
      << "it is verified, and renewed, at once";
  EXPECT_TRUE(lease.valid()) << lease.why_lost().message();
  EXPECT_EQ(promoted.command({"GET", "lock:kept"}), lease.owner().text());
  lease.release();
  EXPECT_GT(mutex.acquire({.timeout = 5s}).fence(), fence);
  heal(old);
}

struct Noticed {
  Instant promoted{};
  Instant lost{};
};

// Freezes the primary after a grant that no replica has, and tells when the holder heard of it.
class LostLock : public C22Sentinel {
 protected:
  static Noticed lose_one(Client& client, Client& other, const std::string& name) {
    cut_replication();
    Mutex mutex{client, name, {.ttl = 30s}};
    Lease lease = mutex.acquire({.timeout = 5s});
    std::promise<Instant> told;
    const std::stop_callback on_lost{lease.lost(), [&] { told.set_value(BootClock::now()); }};
    RedisServer& old = group().primary();
    old.freeze();
    replica().thaw();
    group().await_promotion();
    Noticed noticed{.promoted = BootClock::now()};
    auto lost = told.get_future();
    if (lost.wait_for(10s) != std::future_status::ready) {
      ADD_FAILURE() << "the holder was not told";
    } else {
      noticed.lost = lost.get();
      EXPECT_EQ(lease.why_lost(), errc::taken);
    }
    const Lease next = Mutex{other, name, {.ttl = 30s}}.acquire({.timeout = 5s});
    EXPECT_LE(BootClock::now() - noticed.promoted, 5s) << "acquire works again";
    EXPECT_GT(next.fence(), lease.fence());
    heal(old);
    return noticed;
  }
};

// The second failover, and the third, are followed as the first was.
TEST_F(LostLock, IsToldRightAfterThePromotion) {
  const auto client = connect();
  const auto other = connect();
  std::vector<double> delays;
  for (int run = 0; run < short_or_full(3, 20); ++run) {
    const Noticed noticed = lose_one(*client, *other, "lost-" + std::to_string(run));
    delays.push_back(ms(noticed.lost - noticed.promoted));
    EXPECT_LE(noticed.lost - noticed.promoted, 250ms) << "run " << run;
  }
  std::sort(delays.begin(), delays.end());
  figure("C22 sentinel: lost after the promotion, ms: median ", delays[delays.size() / 2],
         " largest ", delays.back(), " of ", delays.size());
}

TEST_F(C22Sentinel, FencesRiseThroughFailoversThatLoseTheTail) {
  const auto client = connect();
  Mutex mutex{*client, "fences", {.ttl = 2s}};
  Fence last = Fence::none;
  for (int run = 0; run < short_or_full(2, 100); ++run) {
    cut_replication();
    for (int i = 0; i < 3; ++i) {
      const Lease lease = mutex.acquire({.timeout = 5s});
      EXPECT_GT(lease.fence(), last);
      last = lease.fence();
    }
    RedisServer& old = group().primary();
    old.freeze();
    replica().thaw();
    group().await_promotion();
    // The tail that is lost may be a release: then the name is free when its TTL is over.
    const Lease lease = mutex.acquire({.timeout = 10s});
    EXPECT_GT(lease.fence(), last) << "run " << run;
    last = lease.fence();
    heal(old);
  }
}

TEST_F(C22Sentinel, AWaiterGoesOnWaitingAtTheNewPrimary) {
  const auto holder = connect();
  const auto waiter = connect();
  Lease held = Mutex{*holder, "waited", {.ttl = 5s}}.acquire({.timeout = 5s});
  std::promise<std::error_code> ended;
  Mutex mutex{*waiter, "waited", {.ttl = 5s}};
  mutex.start_acquire({.timeout = 30s},
                      [&](std::error_code code, Lease) { ended.set_value(code); });
  ASSERT_TRUE(test::eventually([&] { return holder->inspect("waited").waiters.size() == 1; }));
  RedisServer& old = group().primary();
  old.freeze();
  group().await_promotion();
  ASSERT_TRUE(test::eventually(
      [&] {
        std::error_code code;
        held.release(code);
        return !code || code == errc::not_owner;
      },
      10s));
  auto end = ended.get_future();
  ASSERT_EQ(end.wait_for(10s), std::future_status::ready);
  EXPECT_FALSE(end.get());
  heal(old);
}

TEST_F(C22Sentinel, ShortOfAcknowledgementsNothingIsGranted) {
  const auto client = connect("?replica_acks=1&replica_timeout=100ms");
  EXPECT_TRUE(Mutex(*client, "acked").acquire({.timeout = 5s}).valid());
  replica().freeze();
  std::error_code code;
  const Lease lease = Mutex{*client, "acked"}.acquire({.timeout = 1s}, code);
  EXPECT_EQ(code, errc::store_unavailable) << code.message();
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(test::eventually([] {
    return group().primary().command({"EXISTS", "lock:acked"}) == "0";
  })) << "it is withdrawn";
  replica().thaw();
  group().await_agreement();
}

TEST_F(C22Sentinel, SaysWhatIsWrong) {
  const auto refused = [](const std::string& url, errc code, const std::string& says) {
    try {
      Client client{url};
      const Lease lease = Mutex{client, "job"}.acquire({.timeout = 0s});
      ADD_FAILURE() << url << " was granted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(error.detail().find(says), std::string::npos) << error.what();
    }
  };
  const std::string url = group().url();
  const std::string sentinels = url.substr(0, url.rfind('/'));
  refused(sentinels + "/other", errc::invalid_url, "no primary called 'other'");
  refused(sentinels, errc::invalid_url, "needs the name of the primary");
  refused(url + "?replica_acks=some", errc::invalid_url, "replica_acks 'some'");
  refused(url + "?replica_acks=1&replica_timeout=3s", errc::invalid_url, "shorter than op_timeout");
  refused(url + "?sentinel_user=u", errc::invalid_url, "sentinel_password_file");
  refused(url + "?tls_name=x", errc::invalid_url, "tls_name");
}

TEST_F(C22Sentinel, SentinelsHaveAPasswordOfTheirOwnAndMayBeDown) {
  RedisSentinels guarded{{.sentinel_password = "hidden-word"}};
  const test::TempDir folder;
  const std::string file = (folder / "password").string();
  std::ofstream{file} << "hidden-word\n";
  guarded.stop_sentinel(0);
  Client client{guarded.url() + "?sentinel_password_file=" + file};
  EXPECT_TRUE(Mutex(client, "job").acquire({.timeout = 5s}).valid());
  try {
    Client stranger{guarded.url()};
    const Lease lease = Mutex{stranger, "job"}.acquire({.timeout = 0s});
    ADD_FAILURE() << "it was granted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::access_denied) << error.what();
    EXPECT_NE(error.detail().find("sentinel_password_file="), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace holdfast::chaos

// Slots that move and primaries that change while names are held, on a real cluster.
#include "tests/support/redis_cluster.hpp"
#include "store/cluster/cluster_factory.hpp"
#include "store/cluster/slot.hpp"
#include "tests/conformance/redis_fixture.hpp"
#include "tests/support/eventually.hpp"

#include <holdfast/holdfast.hpp>

#include <future>
#include <iostream>
#include <set>

namespace holdfast::redis_tests {
namespace {

using test::RedisCluster;

class RedisClusterStore : public testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
    static int made = 0;
    prefix_ = "t" + std::to_string(++made) + ":";
    factory_ = make_cluster_factory(StoreUrl::parse(url()), "");
  }
  // One for all suites of the process.
  static RedisCluster& cluster() {
    static RedisCluster all{{.replicas = true}};
    return all;
  }
  std::string url(const std::string& more = {}) const {
    return cluster().url("prefix=" + prefix_ + more);
  }
  unsigned slot_of(const std::string& name) const { return cluster::slot_of(prefix_ + name); }
  // A name of this test whose slot node `index` was given.
  std::string name_on(std::size_t index) {
    for (int i = 0;; ++i) {
      std::string name = "n" + std::to_string(i);
      if (cluster().owner_of(slot_of(name)) == index && used_.insert(name).second) {
        return name;
      }
    }
  }

  std::shared_ptr<StoreFactory> factory_{};
  std::string prefix_{};

 private:
  std::set<std::string> used_{};
};

using C44Cluster = RedisClusterStore;
using R04 = RedisClusterStore;

TEST_F(C44Cluster, NamesOfAllNodesInEveryVerbAndNoCrossSlot) {
  Asker asker{factory_};
  std::set<std::string> names{
      "a", "a/b", "{x}y", "a{b}c{d}", "a b", "\u00e4", std::string(255, 'x')};
  for (std::size_t i = 0; i < 300; ++i) {
    names.insert("many/" + std::to_string(i));
  }
  std::vector<Claim> claims;
  for (const std::string& name : names) {
    claims.push_back(claim(name, 1));
    EXPECT_GT(asker.grant(claims.back()), 0) << name;
  }
  for (const RenewReply& reply : asker.renew(claims)) {
    expect<Renewed>(reply);
  }
  std::set<std::string> listed;
  for (const NameView& view : asker.list("")) {
    EXPECT_TRUE(listed.insert(view.name).second) << view.name << " is listed twice";
  }
  EXPECT_EQ(listed, names);
  EXPECT_EQ(asker.list("many/").size(), 300U);
  for (const Claim& one : claims) {
    expect<Released>(asker.withdraw(one));
  }
  EXPECT_TRUE(asker.list("").empty());
}

TEST_F(R04, ASlotThatMovedIsFollowed) {
  Asker asker{factory_};
  const std::string name = name_on(0);
  const unsigned slot = slot_of(name);
  const std::int64_t fence = asker.grant(claim(name, 1));
  cluster().move_slot(slot, 0, 1);
  EXPECT_EQ(asker.grant(claim(name, 1)), fence) << "MOVED: the record went along";
  expect<Renewed>(asker.renew(claim(name, 1)));
  expect<Released>(asker.withdraw(claim(name, 1)));
  EXPECT_GT(asker.grant(claim(name, 2)), fence);
  cluster().move_slot(slot, 1, 0);
  expect<Released>(asker.withdraw(claim(name, 2)));
}

// ASK: both keys of a lease that is held alone are over there already.
TEST_F(R04, ARenewalIsAnsweredInTheMiddleOfAMove) {
  Asker asker{factory_};
  const std::string name = name_on(0);
  const unsigned slot = slot_of(name);
  asker.grant(claim(name, 1));
  cluster().begin_move(slot, 0, 1);
  expect<Renewed>(asker.renew(claim(name, 1)));
  cluster().move_keys(slot, 0, 1);
  const std::int64_t asked = cluster().node(1).calls("asking");
  expect<Renewed>(asker.renew(claim(name, 1)));
  EXPECT_GT(cluster().node(1).calls("asking"), asked);
  cluster().end_move(slot, 0, 1);
  expect<Renewed>(asker.renew(claim(name, 1)));
  cluster().move_slot(slot, 1, 0);
}

// TRYAGAIN: a script with keys that are not there yet waits until the slot has settled.
TEST_F(R04, AnAcquireWaitsForTheEndOfAMove) {
  Asker asker{factory_};
  const std::string name = name_on(0);
  const unsigned slot = slot_of(name);
  asker.grant(claim(name_on(1), 9));
  cluster().begin_move(slot, 0, 1);
  bool moved = false;
  const auto timer = asker.loop().call_at(asker.loop().now() + 150ms, [&] {
    cluster().move_keys(slot, 0, 1);
    cluster().end_move(slot, 0, 1);
    moved = true;
  });
  EXPECT_GT(asker.grant(claim(name, 1)), 0);
  asker.loop().cancel(timer);
  EXPECT_TRUE(moved);
  expect<Released>(asker.withdraw(claim(name, 1)));
  cluster().move_slot(slot, 1, 0);
}

TEST_F(R04, AMoveThatDoesNotEndIsUnavailableWithoutEffect) {
  Asker asker{make_cluster_factory(StoreUrl::parse(url("&op_timeout=200ms")), "")};
  const std::string name = name_on(0);
  const unsigned slot = slot_of(name);
  asker.grant(claim(name_on(1), 9));
  cluster().begin_move(slot, 0, 1);
  const auto failed = expect<Failed>(asker.acquire(claim(name, 1)));
  EXPECT_EQ(failed.code, errc::store_unavailable);
  EXPECT_FALSE(failed.may_have_had_effect);
  EXPECT_NE(failed.detail.find("TRYAGAIN"), std::string::npos) << failed.detail;
  cluster().end_move(slot, 0, 1);
  EXPECT_GT(asker.grant(claim(name, 1)), 0);
  cluster().move_slot(slot, 1, 0);
}

TEST_F(R04, AHandOffThroughAMove) {
  Client holder{url()};
  Client waiter{url()};
  const std::string name = name_on(2);
  const unsigned slot = slot_of(name);
  Lease lease = Mutex{holder, name}.acquire({.timeout = 5s});
  std::promise<Fence> won;
  Mutex theirs{waiter, name};
  theirs.start_acquire({.timeout = 20s}, [&](std::error_code ec, Lease next) {
    EXPECT_FALSE(ec) << ec.message();
    won.set_value(next.fence());
    next.release(ec);
  });
  ASSERT_TRUE(test::eventually([&] { return holder.inspect(name).waiters.size() == 1; }));
  cluster().move_slot(slot, 2, 0);
  const Fence before = lease.fence();
  lease.release();
  EXPECT_GT(won.get_future().get(), before);
  cluster().move_slot(slot, 0, 2);
}

TEST_F(RedisClusterStore, SeveralNamesInOneStepWhereTheyShareASlot) {
  Asker asker{factory_};
  const std::vector<Claim> together{claim("{x}1", 1), claim("{x}2", 1)};
  const std::vector<Claim> apart{claim(name_on(0), 1), claim(name_on(1), 1)};
  EXPECT_TRUE(asker.store().grants_at_once(together));
  EXPECT_FALSE(asker.store().grants_at_once(apart));
  EXPECT_EQ(expect<AllGranted>(asker.acquire_all(together)).size(), 2U);
  EXPECT_EQ(expect<Failed>(asker.acquire_all(apart)).code, errc::unsupported);
}

TEST_F(RedisClusterStore, ANewerFormatIsRefusedWhereverTheNameIs) {
  const std::string key = prefix_ +
                          "\x1f"
                          "format";
  RedisServer& owner = cluster().node(cluster().owner_of(cluster::slot_of(key)));
  owner.command({"SET", key, "99"});
  Asker asker{factory_};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(expect<Failed>(asker.acquire(claim(name_on(i), 1))).code, errc::format_too_new);
  }
  owner.command({"DEL", key});
}

TEST_F(RedisClusterStore, DoctorSaysThatItIsOneFailureDomain) {
  std::string all;
  const auto look = [&] {
    Asker asker{factory_};
    for (std::size_t i = 0; i < RedisCluster::primaries; ++i) {
      asker.grant(claim(name_on(i), 1));
    }
    all.clear();
    for (const Finding& finding : asker.diagnose()) {
      EXPECT_NE(finding.level, Finding::Level::failure) << finding.what;
      all += finding.what + "\n";
    }
    return all.find("without a replica") == std::string::npos;
  };
  // A replica is shown once something was replicated, and gossip has told of it.
  EXPECT_TRUE(test::eventually(look)) << all;
  for (const char* part : {"one failure domain", "all slots are served, by 3 primaries", "state ok",
                           "asynchronous", "cluster-node-timeout", "Redis 7"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " is not in\n" << all;
  }
}

TEST_F(RedisClusterStore, AServerThatIsNoNodeIsNamed) {
  const RedisServer alone;
  Asker asker{make_cluster_factory(
      StoreUrl::parse("redis+cluster://127.0.0.1:" + std::to_string(alone.port())), "")};
  const auto failed = expect<Failed>(asker.acquire(claim("a", 1)));
  EXPECT_EQ(failed.code, errc::unsupported);
  EXPECT_NE(failed.detail.find("redis://"), std::string::npos) << failed.detail;
}

TEST_F(RedisClusterStore, NoNodeAtAllFailsWithTheReason) {
  Asker asker{make_cluster_factory(
      StoreUrl::parse("redis+cluster://127.0.0.1:1,127.0.0.1:2?op_timeout=500ms"), "")};
  const auto failed = expect<Failed>(asker.acquire(claim("a", 1)));
  EXPECT_EQ(failed.code, errc::store_unavailable);
  EXPECT_FALSE(failed.may_have_had_effect);
}

double each_us(Duration all, int count) {
  return std::chrono::duration<double, std::micro>(all).count() / count;
}

TEST_F(RedisClusterStore, CostsWhatOneRedisCosts) {
  constexpr int rounds = 500;
  const auto redirections = [] {
    std::string counts;
    for (std::size_t i = 0; i < RedisCluster::primaries; ++i) {
      const std::string info = cluster().node(i).command({"INFO", "errorstats"});
      const auto moved = info.find("errorstat_MOVED");
      counts += (moved == info.npos ? "none" : info.substr(moved, info.find('\r', moved) - moved));
    }
    return counts;
  };
  const RedisServer alone;
  Asker single{alone.url() + "?op_timeout=20s"};
  Asker asker{make_cluster_factory(StoreUrl::parse(url("&op_timeout=20s")), "")};
  asker.grant(claim("first", 1));
  const std::string before = redirections();
  const auto cycle = [](Asker& store) {
    store.grant(claim("a", 1));
    const Instant began = store.loop().now();
    for (int i = 0; i < rounds; ++i) {
      const Claim one = claim("n" + std::to_string(i), static_cast<std::uint8_t>(2 + i % 200));
      store.grant(one);
      expect<Released>(store.withdraw(one));
    }
    return each_us(store.loop().now() - began, rounds);
  };
  const double one = cycle(single);
  const double many = cycle(asker);
  std::vector<Claim> claims;
  for (int i = 0; i < 10'000; ++i) {
    claims.push_back(claim("m" + std::to_string(i), 1));
  }
  const auto renewal = [&claims](Asker& store) {
    std::size_t granted = 0;
    for (const Claim& each : claims) {
      store.store().acquire(each, Store::Queueing::no, [&](const AcquireReply& reply) {
        granted += std::holds_alternative<Granted>(reply) ? 1U : 0U;
      });
    }
    EXPECT_TRUE(store.run_until([&] { return granted == claims.size(); }));
    const Instant began = store.loop().now();
    for (const RenewReply& reply : store.renew(claims)) {
      expect<Renewed>(reply);
    }
    return each_us(store.loop().now() - began, 1000);
  };
  const double one_renewal = renewal(single);
  const double many_renewal = renewal(asker);
  std::cout << "[ MEASURED ] acquire + release: one Redis " << one << " us, cluster " << many
            << " us; renewal of 10000: one Redis " << one_renewal << " ms, cluster " << many_renewal
            << " ms\n";
  EXPECT_EQ(redirections(), before) << "each request is to go to its node at once";
}

// ---- C24: redirections that carry an IPv6 address, and a certificate that names a host
// ------------

TEST(C24Cluster, RedirectionsToIPv6AreFollowed) {
  HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  RedisCluster six{{.bind = "::1"}};
  const std::string one_seed =
      "redis+cluster://[::1]:" + std::to_string(six.node(2).port()) + "?prefix=six:";
  Asker asker{make_cluster_factory(StoreUrl::parse(one_seed), "")};
  for (int i = 0; i < 20; ++i) {
    EXPECT_GT(asker.grant(claim("n" + std::to_string(i), 1)), 0);
  }
  const unsigned slot = cluster::slot_of("six:n0");
  const std::size_t from = six.owner_of(slot);
  six.move_slot(slot, from, (from + 1) % RedisCluster::primaries);
  expect<Renewed>(asker.renew(claim("n0", 1)));
}

TEST(C24Cluster, ANameToVerifyCanBeGivenWhereNodesAnnounceAddresses) {
  HOLDFAST_NEEDS("redis", RedisServer::installed() && test::TestCertificates::possible(),
                 RedisServer::how_to_install);
  RedisCluster named{{.tls = test::TestCertificates::Kind::only_names}};
  Asker refused{make_cluster_factory(StoreUrl::parse(named.url()), "")};
  EXPECT_EQ(expect<Failed>(refused.acquire(claim("a", 1))).code, errc::access_denied);
  Asker asker{make_cluster_factory(StoreUrl::parse(named.url("tls_name=redis.test")), "")};
  for (int i = 0; i < 20; ++i) {
    EXPECT_GT(asker.grant(claim("n" + std::to_string(i), 1)), 0);
  }
}

// ---- failover: these change the cluster of the suite, and stand last
// -----------------------------

// Kept in agreement: nothing is lost, and the holder goes on.
TEST_F(RedisClusterStore, ZAgreedFailoverKeepsTheLeaseAndItsFence) {
  Client client{url()};
  const std::string name = name_on(1);
  const Lease lease = Mutex{client, name, {.ttl = 3s}}.acquire({.timeout = 5s});
  cluster().fail_over(1);
  EXPECT_TRUE(test::eventually([&] { return client.counters().renewed >= 3; }));
  EXPECT_TRUE(lease.valid()) << lease.why_lost().message();
}

// The grant is made while the replica is cut off, so it is lost in the failover. The
// holder is told `taken` soon after the promotion, not at its next renewal, and fences rise.
TEST_F(RedisClusterStore, ZHolderThatAFailoverForgotIsToldAtOnce) {
  Client client{url()};
  const std::string name = name_on(0);
  const Lease warm = Mutex{client, name_on(0), {.ttl = 30s}}.acquire({.timeout = 5s});
  RedisServer& primary = cluster().node(0);
  RedisServer& replica = cluster().node(3);
  for (const char* option : {"masteruser", "masterauth"}) {
    replica.command({"CONFIG", "SET", option, "nobody"});
  }
  replica.command({"CLIENT", "KILL", "TYPE", "master"});
  const Lease lease = Mutex{client, name, {.ttl = 30s}}.acquire({.timeout = 5s});
  std::promise<Instant> lost;
  std::stop_callback on_lost{lease.lost(), [&] { lost.set_value(BootClock::now()); }};
  primary.kill_hard();
  const bool promoted = test::eventually([&] { return cluster().is_primary(3); }, 15s);
  ASSERT_TRUE(promoted);
  const Instant since = BootClock::now();
  auto told = lost.get_future();
  ASSERT_EQ(told.wait_for(5s), std::future_status::ready)
      << "still valid: " << lease.valid() << "; " << cluster().node(3).command({"CLUSTER", "INFO"})
      << cluster().node(3).command({"KEYS", prefix_ + "*"}) << "\n"
      << cluster().node(1).command({"CLUSTER", "SLOTS"});
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(told.get() - since);
  std::cout << "[ MEASURED ] told after promotion: " << took.count() << " ms\n";
  EXPECT_LT(took, 1500ms);
  EXPECT_EQ(lease.why_lost(), errc::taken);
  Client other{url()};
  const Lease next = Mutex{other, name}.acquire({.timeout = 5s});
  EXPECT_GT(next.fence(), lease.fence());
  for (const char* option : {"masteruser", "masterauth"}) {
    replica.command({"CONFIG", "SET", option, ""});
  }
  primary.start();
}

}  // namespace
}  // namespace holdfast::redis_tests

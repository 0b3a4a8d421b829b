// The store over a real etcd: exclusive leases, the queue, other programs of etcd's lock format on
// the same name, and what an operator does. Times here are etcd's: whole seconds, two at least.
#include "client/stores.hpp"
#include "runtime/event_loop.hpp"
#include "tests/conformance/store_test.hpp"
#include "tests/support/etcd_server.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/required.hpp"
#include "tests/support/test_certificates.hpp"

#include <algorithm>
#include <csignal>

namespace holdfast::conformance {
namespace {

using test::EtcdServer;
using test::Process;

class EtcdStore : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("etcd", EtcdServer::installed(), EtcdServer::how_to_install);
  }

  static std::string fresh_url(const EtcdServer& server = EtcdServer::shared()) {
    static int made = 0;
    const std::string url = server.url();
    return url + (url.find('?') == std::string::npos ? "?" : "&") + "prefix=test-" +
           std::to_string(++made) + "/";
  }

  Speaker& store() {
    if (!store_) {
      factory_ = make_store_factory(url_.empty() ? fresh_url() : url_, password_);
      store_ = std::make_unique<Speaker>(lane_, factory_->open(lane_), Speaker::Listening::yes);
    }
    return *store_;
  }
  Speaker elsewhere() {
    other_ = make_store_factory(factory_->url(), password_);
    return Speaker{lane_, other_->open(lane_), Speaker::Listening::yes};
  }
  Claim claim(const std::string& name = "job", Duration ttl = 30s) {
    Claim made;
    made.name = name;
    lane_.random_bytes(made.owner.bytes);
    made.ttl = ttl;
    made.liveness = std::min<Duration>(ttl, 5s);
    made.who = {"host-1", 4711, "a note"};
    return made;
  }
  Granted until_granted(const Claim& wanted, Duration patience = 10s) {
    const Instant end = lane_.now() + patience;
    while (lane_.now() < end) {
      const AcquireReply reply = store().acquire(wanted);
      if (const auto* granted = std::get_if<Granted>(&reply)) {
        return *granted;
      }
      auto over = std::make_shared<bool>(false);
      lane_.call_at(lane_.now() + 50ms, [over] { *over = true; });
      lane_.run_until([over] { return *over; });
    }
    throw std::runtime_error("never granted");
  }
  static bool renewed(const RenewReply& reply) { return std::holds_alternative<Renewed>(reply); }
  static bool gone(const RenewReply& reply, GoneReason why) {
    const auto* is = std::get_if<Gone>(&reply);
    return is != nullptr && is->reason == why;
  }

  EventLoop lane_{};
  std::string url_{};
  std::string password_{};
  std::shared_ptr<StoreFactory> factory_{};
  std::shared_ptr<StoreFactory> other_{};
  std::unique_ptr<Speaker> store_{};
};

TEST_F(EtcdStore, GrantsOneAtATimeAndFencesRise) {
  Fence last = Fence::none;
  store();
  Speaker other = elsewhere();
  for (int i = 0; i < 10; ++i) {
    const Claim a = claim();
    const Granted granted = (i % 2 == 0 ? store() : other).grant(a);
    EXPECT_GT(granted.fence, last);
    EXPECT_EQ(granted.ttl, 30s);
    last = granted.fence;
    EXPECT_EQ(other.busy(claim()).holder->owner, a.owner);
    EXPECT_EQ(store().grant(a).fence, last) << "asked again";
    EXPECT_TRUE(renewed(store().renew(a)));
    other.release(a);
    EXPECT_TRUE(gone(store().renew(a), GoneReason::taken));
    EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a)));
  }
}

TEST_F(EtcdStore, ServesWaitersInTheirOrderAndWakesOnlyTheNext) {
  const Claim a = claim();
  const Claim b = claim();
  const Claim c = claim();
  store().grant(a);
  EXPECT_EQ(store().queue(b).holder->owner, a.owner);
  store().queue(c);
  store().busy(claim());
  store().release(a);
  EXPECT_TRUE(store().await_hint(b.owner));
  store().queue(c);
  const Fence fence = store().grant(b).fence;
  EXPECT_EQ(store().inspect("job").waiters.at(0).owner, c.owner);
  EXPECT_TRUE(renewed(store().renew(b)));
  store().release(b);
  EXPECT_TRUE(store().await_hint(c.owner));
  EXPECT_GT(store().grant(c).fence, fence);
  store().release(c);
}

TEST_F(EtcdStore, AWaiterThatLeavesInTheMiddleWakesNobody) {
  const Claim a = claim();
  const Claim b = claim();
  const Claim c = claim();
  store().grant(a);
  store().queue(b);
  store().queue(c);
  store().release(b);
  EXPECT_EQ(store().inspect("job").waiters.size(), 1U);
  store().release(a);
  EXPECT_TRUE(store().await_hint(c.owner));
  store().grant(c);
}

TEST_F(EtcdStore, CompactionLosesNoWakeUp) {
  const Claim a = claim();
  const Claim b = claim();
  const Fence fence = store().grant(a).fence;
  store().queue(b);
  const Fence now = store().grant(claim("other")).fence;
  EtcdServer::shared().ctl({"compact", std::to_string(to_int(now))});
  store().release(a);
  EXPECT_TRUE(store().await_hint(b.owner));
  EXPECT_GT(store().grant(b).fence, fence);
}

TEST_F(EtcdStore, EndsByTimeAndIsKeptByRenewals) {
  const Claim a = claim("job", 2s);
  const Instant asked = lane_.now();
  const Granted granted = store().grant(a);
  EXPECT_GE(granted.ttl, 2s) << "what etcd granted counts";
  const Granted next = until_granted(claim());
  EXPECT_GE(lane_.now(), asked + 2s);
  EXPECT_GT(next.fence, granted.fence);
  EXPECT_TRUE(gone(store().renew(a), GoneReason::taken));
}

TEST_F(EtcdStore, ATombstoneRefusesALateAcquire) {
  const Claim a = claim();
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(a, {.tombstone = true})));
  store().busy(a);
  store().busy(a, Store::Queueing::yes);
  EXPECT_TRUE(store().inspect("job").holders.empty());
  store().grant(claim());
}

TEST_F(EtcdStore, ARenewalThatMeansAnotherGrantIsTaken) {
  Claim a = claim();
  a.fence = store().grant(a).fence;
  EXPECT_TRUE(renewed(store().renew(a)));
  a.fence = Fence{to_int(a.fence) - 1};
  EXPECT_TRUE(gone(store().renew(a), GoneReason::taken));
}

TEST_F(EtcdStore, TheLeaseWithoutItsKeyIsNoProof) {
  const Claim a = claim();
  store().grant(a);
  store().break_name("job", BreakMode::now);
  const Claim b = claim();
  store().grant(b);
  EXPECT_TRUE(gone(store().renew(a), GoneReason::taken));
  EXPECT_TRUE(renewed(store().renew(b)));
}

TEST_F(EtcdStore, AnOperatorAsksTheHolder) {
  const Claim a = claim();
  store().grant(a);
  EXPECT_EQ(store().break_name("job").holders.at(0).owner, a.owner);
  EXPECT_TRUE(store().inspect("job").holders.at(0).broken);
  EXPECT_TRUE(gone(store().renew(a), GoneReason::broken));
  store().release(a);
  EXPECT_TRUE(store().break_name("job").holders.empty());
}

TEST_F(EtcdStore, KeepsAValueAndTellsWhoHolds) {
  Claim a = claim();
  a.value = "http://h:1/\nline";
  const Fence fence = store().grant(a).fence;
  a.value = "second";
  EXPECT_TRUE(std::holds_alternative<Amended>(store().amend(a)));
  const Holder holder = store().inspect("job").holders.at(0);
  EXPECT_EQ(holder.value, "second");
  EXPECT_EQ(holder.who, a.who);
  EXPECT_EQ(holder.fence, fence);
  EXPECT_GT(holder.ttl_left, 20s);
}

TEST_F(EtcdStore, NoNameStandsUnderAnother) {
  for (const char* name : {"a", "a/b", "a/b/c", "a%2Fb", "%withdrawn", "a0", "A/"}) {
    store().grant(claim(name));
    store().busy(claim(name));
  }
  EXPECT_EQ(store().list_all().size(), 7U);
  EXPECT_EQ(store().list_all("a/").size(), 2U);
  EXPECT_EQ(store().list_all("a").size(), 5U);
}

TEST_F(EtcdStore, ListsMoreNamesThanAPageHolds) {
  std::vector<Claim> held;
  for (int i = 0; i < 520; ++i) {
    store().grant(held.emplace_back(claim("n" + std::to_string(i))));
  }
  std::vector<std::string> names;
  for (const NameView& view : store().list_all()) {
    names.push_back(view.name);
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::unique(names).begin(), names.end());
  EXPECT_EQ(names.size(), held.size());
  for (const RenewReply& reply : store().renew(held)) {
    EXPECT_TRUE(renewed(reply));
  }
}

TEST_F(EtcdStore, RefusesMinHold) {
  Claim a = claim();
  a.min_hold = 1s;
  const AcquireReply reply = store().acquire(a);
  ASSERT_TRUE(std::holds_alternative<Failed>(reply));
  EXPECT_EQ(std::get<Failed>(reply).code, make_error_code(errc::unsupported));
}

TEST_F(EtcdStore, EtcdctlWaitsForUs) {
  url_ = EtcdServer::shared().url();
  const Claim a = claim("shared-one");
  store().grant(a);
  Process other({.args = EtcdServer::shared().ctl_line({"lock", "shared-one", "echo", "inside"}),
                 .env = {{"ETCDCTL_API", "3"}}});
  ASSERT_TRUE(test::eventually([&] { return store().inspect("shared-one").waiters.size() == 1; }));
  EXPECT_TRUE(other.running());
  EXPECT_TRUE(renewed(store().renew(a)));
  store().release(a);
  EXPECT_EQ(other.wait(), 0);
  EXPECT_EQ(other.out(), "inside\n");
}

TEST_F(EtcdStore, WeWaitForEtcdctl) {
  url_ = EtcdServer::shared().url();
  store();
  Process other({.args = EtcdServer::shared().ctl_line({"lock", "shared-two"}),
                 .env = {{"ETCDCTL_API", "3"}}});
  ASSERT_TRUE(test::eventually([&] { return !store().inspect("shared-two").holders.empty(); }));
  const Fence theirs = store().inspect("shared-two").holders.at(0).fence;
  const Claim a = claim("shared-two");
  store().queue(a);
  other.signal(SIGINT);  // it gives the lock back and ends
  EXPECT_TRUE(other.wait().has_value());
  EXPECT_TRUE(store().await_hint(a.owner));
  EXPECT_GT(store().grant(a).fence, theirs);
  store().release(a);
}

TEST_F(EtcdStore, ARestartKeepsTheLease) {
  EtcdServer server;
  url_ = fresh_url(server);
  const Claim a = claim();
  const Fence fence = store().grant(a).fence;
  server.restart();
  EXPECT_EQ(until_granted(a).fence, fence);
  EXPECT_TRUE(renewed(store().renew(a)));
  store().busy(claim());
  store().release(a);
  EXPECT_GT(store().grant(claim()).fence, fence);
}

TEST_F(EtcdStore, APasswordIsAskedForAndTheTokenRenewed) {
  EtcdServer server{{.root_password = "s3cret"}};
  const std::string plain = fresh_url(server);
  const auto refused = [&](const std::string& url, const std::string& password) {
    auto factory = make_store_factory(url, password);
    Speaker speaker{lane_, factory->open(lane_), Speaker::Listening::no};
    const AcquireReply reply = speaker.acquire(claim());
    const auto* failed = std::get_if<Failed>(&reply);
    EXPECT_EQ(failed == nullptr ? std::string::npos : failed->detail.find("wrong"),
              std::string::npos);
    return failed != nullptr && failed->code == make_error_code(errc::access_denied);
  };
  const std::string named = "etcd://root@" + plain.substr(std::string{"etcd://"}.size());
  EXPECT_TRUE(refused(plain, ""));
  EXPECT_TRUE(refused(named, "wrong"));
  url_ = named;
  password_ = "s3cret";
  const Claim a = claim();
  store().grant(a);
  EXPECT_TRUE(renewed(store().renew(a)));
  server.restart();  // which forgets every token
  until_granted(a);
  store().release(a);
}

TEST_F(EtcdStore, SpeaksTls) {
  HOLDFAST_NEEDS("openssl", test::TestCertificates::possible(), "there is no openssl command");
  EtcdServer server{{.tls = true}};
  url_ = fresh_url(server);
  const Claim a = claim();
  store().grant(a);
  store().release(a);
  auto distrusting = make_store_factory(url_.substr(0, url_.find('?')) + "?tls=on", "");
  Speaker speaker{lane_, distrusting->open(lane_), Speaker::Listening::no};
  const AcquireReply reply = speaker.acquire(claim());
  ASSERT_TRUE(std::holds_alternative<Failed>(reply));
  EXPECT_FALSE(std::get<Failed>(reply).may_have_had_effect);
}

// While its leader ends, or stands still, the lease that the cluster has is kept.
class EtcdCluster : public EtcdStore {
 protected:
  void keeps_the_lease_when(const std::function<void(EtcdServer&, std::size_t)>& harm) {
    EtcdServer cluster{{.nodes = 3}};
    url_ = fresh_url(cluster);
    const Claim a = claim();
    const Fence fence = store().grant(a).fence;
    const std::size_t leader = cluster.leader();
    harm(cluster, leader);
    EXPECT_EQ(until_granted(a, 20s).fence, fence);
    EXPECT_TRUE(renewed(store().renew(a)));
    store().busy(claim());
    store().release(a);
    EXPECT_GT(until_granted(claim(), 20s).fence, fence);
  }
};

TEST_F(EtcdCluster, KeepsTheLeaseWhenTheLeaderIsKilled) {
  keeps_the_lease_when([](EtcdServer& cluster, std::size_t leader) { cluster.kill_hard(leader); });
}

TEST_F(EtcdCluster, KeepsTheLeaseWhenTheLeaderStandsStill) {
  keeps_the_lease_when([](EtcdServer& cluster, std::size_t leader) { cluster.freeze(leader); });
}

}  // namespace
}  // namespace holdfast::conformance

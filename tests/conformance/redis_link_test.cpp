// Connections that freeze, die and lie, between the store and a real server.
#include "tests/conformance/redis_fixture.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/net_client.hpp"

namespace holdfast::redis_tests {
namespace {

using test::FaultProxy;
using Mode = FaultProxy::Mode;

class RedisLink : public OnRedis {
 protected:
  std::string through(const FaultProxy& proxy) {
    return "redis://127.0.0.1:" + std::to_string(proxy.port()) + "?op_timeout=300ms";
  }
  static const Failed* failed_of(const AcquireReply& reply) { return std::get_if<Failed>(&reply); }
};

class C01 : public RedisLink {};
class C16 : public RedisLink {};

TEST_F(C01, AnUnansweredAcquireIsUnknownAndAskingAgainFindsItsOwnGrant) {
  FaultProxy proxy{server().port()};
  Asker asker{through(proxy)};
  asker.grant(claim("warm", 9));
  proxy.set(Mode::swallow_replies);
  const AcquireReply reply = asker.acquire(claim("a", 1));
  ASSERT_NE(failed_of(reply), nullptr);
  EXPECT_EQ(failed_of(reply)->code, errc::outcome_unknown);
  EXPECT_TRUE(failed_of(reply)->may_have_had_effect);
  const std::string fence = server().command({"GET", helper("fence", "a")});
  proxy.set(Mode::pass);
  EXPECT_EQ(std::to_string(asker.grant(claim("a", 1))), fence);
}

TEST_F(C01, AResetBeforeTheAnswerIsUnknownAtOnce) {
  FaultProxy proxy{server().port()};
  Asker asker{through(proxy)};
  asker.grant(claim("warm", 9));
  proxy.set(Mode::swallow_replies);
  const auto timer =
      asker.loop().call_at(asker.loop().now() + 20ms, [&] { proxy.set(Mode::reset); });
  const Instant asked = asker.loop().now();
  const AcquireReply reply = asker.acquire(claim("a", 1));
  asker.loop().cancel(timer);
  EXPECT_LT(asker.loop().now() - asked, 200ms);
  ASSERT_NE(failed_of(reply), nullptr);
  EXPECT_TRUE(failed_of(reply)->may_have_had_effect);
}

// The acquire and the withdrawal behind it wait in the socket of a frozen server; the fresh
// connection gets no answer either. When the server wakes, nothing of ours is left.
TEST_F(RedisLink, AFrozenServerExecutesTheWithdrawalBehindTheAcquire) {
  Asker asker{with_option(server().url(), "op_timeout=300ms")};
  asker.grant(claim("warm", 9));
  server().freeze();
  const AcquireReply reply = asker.acquire(claim("a", 1));
  ASSERT_NE(failed_of(reply), nullptr);
  EXPECT_EQ(failed_of(reply)->code, errc::outcome_unknown);
  const WithdrawReply withdrawn = asker.withdraw(claim("a", 1), {.tombstone = true});
  ASSERT_TRUE(std::holds_alternative<Failed>(withdrawn));
  EXPECT_TRUE(std::get<Failed>(withdrawn).may_have_had_effect);
  asker.close();
  server().thaw();
  EXPECT_EQ(server().command({"EXISTS", "lock:a"}), "0");
  EXPECT_NE(server().command({"EXISTS", helper("fence", "a")}), "0");  // it was granted once
  Asker other{server().url()};
  other.grant(claim("a", 2));
}

TEST_F(RedisLink, AFrozenServerThatWakesServesTheSameStore) {
  Asker asker{with_option(server().url(), "op_timeout=200ms")};
  asker.grant(claim("a", 1));
  server().freeze();
  EXPECT_TRUE(std::holds_alternative<Failed>(asker.renew(claim("a", 1))));
  EXPECT_TRUE(std::holds_alternative<Failed>(asker.renew(claim("a", 1))));
  server().thaw();
  RenewReply reply = asker.renew(claim("a", 1));
  if (std::holds_alternative<Failed>(reply)) {
    reply = asker.renew(claim("a", 1));
  }
  EXPECT_TRUE(std::holds_alternative<Renewed>(reply)) << Asker::why(reply);
}

TEST_F(RedisLink, AResetConnectionIsMadeAnew) {
  FaultProxy proxy{server().port()};
  Asker asker{through(proxy)};
  asker.grant(claim("a", 1));
  proxy.reset_open();
  RenewReply reply = asker.renew(claim("a", 1));
  if (std::holds_alternative<Failed>(reply)) {
    reply = asker.renew(claim("a", 1));
  }
  EXPECT_TRUE(std::holds_alternative<Renewed>(reply));
}

TEST(C17, EveryVerbAnswersInTimeWhateverTheServerDoes) {
  const test::SilentPeer silent{test::SilentPeer::Protocol::tcp};
  const std::vector<std::string> urls{
      "redis://127.0.0.1:1?op_timeout=150ms",  // refused
      "redis://127.0.0.1:" + std::to_string(silent.port()) + "?op_timeout=150ms",
      "rediss://127.0.0.1:" + std::to_string(silent.port()) + "?op_timeout=150ms",
      "redis+unix:///nowhere/s?op_timeout=150ms", "redis://no-such-host.invalid?op_timeout=150ms"};
  for (const std::string& url : urls) {
    Asker asker{url};
    asker.listen();
    const Instant asked = asker.loop().now();
    const AcquireReply reply = asker.queue(claim("a", 1));
    const auto* failed = std::get_if<Failed>(&reply);
    ASSERT_NE(failed, nullptr) << url;
    EXPECT_EQ(failed->code, errc::store_unavailable) << failed->detail;
    EXPECT_FALSE(failed->may_have_had_effect) << url;
    EXPECT_TRUE(std::holds_alternative<Failed>(asker.renew(claim("a", 1)))) << url;
    EXPECT_TRUE(std::holds_alternative<Failed>(asker.withdraw(claim("a", 1)))) << url;
    EXPECT_TRUE(std::holds_alternative<Failed>(asker.inspect_reply("a"))) << url;
    EXPECT_EQ(asker.diagnose().size(), 1U) << url;
    EXPECT_LT(asker.loop().now() - asked, 5 * 150ms + 250ms) << url;
  }
}

TEST_F(RedisLink, AServerThatComesBackServesTheSameStore) {
  Asker asker{with_option(server().url(), "op_timeout=1s")};
  asker.grant(claim("a", 1));
  server().shut_down();
  const AcquireReply lost = asker.acquire(claim("b", 1));
  ASSERT_NE(failed_of(lost), nullptr);
  const AcquireReply refused = asker.acquire(claim("b", 1));
  ASSERT_NE(failed_of(refused), nullptr);
  EXPECT_EQ(failed_of(refused)->code, errc::store_unavailable);
  EXPECT_FALSE(failed_of(refused)->may_have_had_effect);
  server().start();
  EXPECT_GT(asker.grant(claim("b", 1)), 0);
}

TEST_F(C16, AKilledSubscriptionComesBackAndCastsDoubt) {
  store().listen();
  store().grant(claim("a", 1));
  ASSERT_TRUE(std::holds_alternative<Queued>(store().queue(claim("a", 2))));
  server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
  ASSERT_TRUE(store().run_until([&] { return !store().events.empty(); }));
  EXPECT_NE(store().last_event<Doubt>(), nullptr);
  store().withdraw(claim("a", 1));
  ASSERT_TRUE(store().run_until([&] { return store().last_event<HandedOff>() != nullptr; }));
}

TEST_F(C16, ANewConnectionForRequestsCastsDoubtByItself) {
  store().listen();
  store().grant(claim("a", 1));
  server().command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  ASSERT_TRUE(store().run_until([&] { return !store().events.empty(); }));
  EXPECT_NE(store().last_event<Doubt>(), nullptr);
}

TEST_F(C16, AWaiterIsSubscribedBeforeItIsQueued) {
  Asker holder{factory()};
  store().listen();
  for (std::uint8_t round = 1; round < 100; ++round) {
    Asker waiter{factory_for(server().url())};
    waiter.listen();
    holder.grant(claim("a", 200));
    waiter.queue(claim("a", round));
    holder.withdraw(claim("a", 200));
    ASSERT_TRUE(waiter.run_until([&] { return !waiter.events.empty(); }, 1s)) << round;
    waiter.withdraw(claim("a", round));
  }
}

TEST_F(C16, AWaiterQueuesEvenIfItCannotListen) {
  server().command({"ACL", "SETUSER", "default", "-subscribe"});
  Asker asker{server().url()};
  asker.listen();
  const AcquireReply reply = asker.acquire(claim("a", 1));
  ASSERT_NE(failed_of(reply), nullptr);  // named before anything is granted, see C23
  EXPECT_NE(failed_of(reply)->detail.find("SUBSCRIBE"), std::string::npos);
}

TEST_F(RedisLink, WakeUpsReachTheStoreThatListensWhicheverAsked) {
  store().listen();
  store().renew(claim("none", 9));  // starts to listen
  Asker lane{factory()};
  lane.grant(claim("a", 1));
  lane.queue(claim("a", 2));
  lane.withdraw(claim("a", 1));
  ASSERT_TRUE(store().run_until([&] { return !store().events.empty(); }));
  EXPECT_NE(store().last_event<HandedOff>(), nullptr);
}

TEST_F(RedisLink, AStoreThatIsClosedAnswersNothing) {
  bool answered = false;
  store().store().acquire(claim("a", 1), Store::Queueing::no,
                          [&](AcquireReply) { answered = true; });
  store().store().close();
  store().run_for(50ms);
  EXPECT_FALSE(answered);
}

TEST_F(RedisLink, AHandlerMayDestroyTheStore) {
  Asker asker{server().url()};
  bool answered = false;
  for (int i = 0; i < 3; ++i) {
    asker.store().inspect("a", [&](InspectReply) {
      answered = true;
      asker.close();
    });
  }
  ASSERT_TRUE(asker.run_until([&] { return answered; }));
  asker.run_for(20ms);
}

}  // namespace
}  // namespace holdfast::redis_tests

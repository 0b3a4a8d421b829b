// The proxy that breaks networks for the other tests does what its modes say.
#include "tests/support/fault_proxy.hpp"

#include "runtime/event_loop.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/net_client.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/required.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using Mode = FaultProxy::Mode;
using Kind = net::StreamError::Kind;

class FaultProxyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
    server_ = std::make_unique<RedisServer>();
    proxy_ = std::make_unique<FaultProxy>(server_->port());
  }

  std::unique_ptr<NetClient> client() {
    return std::make_unique<NetClient>(loop_,
                                       net::Endpoint{.host = "127.0.0.1", .port = proxy_->port()});
  }

  std::unique_ptr<NetClient> connected() {
    auto fresh = client();
    EXPECT_FALSE(fresh->connect());
    EXPECT_EQ(fresh->ask("PING\r\n"), "+PONG\r\n");
    return fresh;
  }

  EventLoop loop_{};
  std::unique_ptr<RedisServer> server_{};
  std::unique_ptr<FaultProxy> proxy_{};
};

TEST_F(FaultProxyTest, PassesAndCounts) {
  const auto one = connected();
  const auto counts = proxy_->connections();
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].to_server, 6U);
  EXPECT_EQ(counts[0].to_client, 7U);
  EXPECT_TRUE(counts[0].open);
  one->stream().close();
  EXPECT_TRUE(eventually([&] { return !proxy_->total().open; }));
}

TEST_F(FaultProxyTest, SwallowsRepliesOfRequestsThatWereExecuted) {
  const auto one = connected();
  proxy_->set(Mode::swallow_replies);
  one->stream().write("INCR n\r\n");
  EXPECT_TRUE(eventually([&] { return proxy_->total().swallowed == 4; }));  // ":1\r\n"
  EXPECT_EQ(server_->command({"GET", "n"}), "1");
  proxy_->set(Mode::pass);
  EXPECT_EQ(one->ask("GET n\r\n"), "$1\r\n") << "the swallowed reply is gone for good";
}

TEST_F(FaultProxyTest, ABlackholeKeepsBackUntilItPassesAgain) {
  const auto one = connected();
  proxy_->set(Mode::blackhole);
  one->stream().write("INCR n\r\n");
  const auto late = client();
  EXPECT_FALSE(late->connect()) << "the kernel answers";
  late->stream().write("PING\r\n");
  EXPECT_EQ(proxy_->total().to_server, 6U) << "only the first PING";
  EXPECT_EQ(server_->command({"GET", "n"}), "(nil)");
  proxy_->set(Mode::pass);
  EXPECT_EQ(one->read_line(), ":1\r\n");
  EXPECT_EQ(late->read_line(), "+PONG\r\n");
}

TEST_F(FaultProxyTest, ResetsOpenAndNewConnections) {
  const auto one = connected();
  proxy_->set(Mode::reset);
  EXPECT_NE(one->read_error().detail.find("reset"), std::string::npos);
  const auto two = client();
  if (!two->connect()) {
    EXPECT_EQ(two->read_error().kind, Kind::closed);
  }
  proxy_->set(Mode::pass);
  connected();
}

TEST_F(FaultProxyTest, RefusesNewConnectionsAndListensAgain) {
  const auto one = connected();
  proxy_->set(Mode::refuse);
  EXPECT_EQ(client()->connect().kind, Kind::refused);
  EXPECT_EQ(one->ask("PING\r\n"), "+PONG\r\n") << "open ones go on";
  proxy_->set(Mode::pass);
  connected();
}

TEST_F(FaultProxyTest, DelaysReplies) {
  const auto one = connected();
  proxy_->delay_replies(60ms);
  const Instant start = loop_.now();
  EXPECT_EQ(one->ask("PING\r\n"), "+PONG\r\n");
  EXPECT_GE(loop_.now() - start, 60ms);
}

TEST_F(FaultProxyTest, ResetsAClientWhoseServerIsGone) {
  const auto one = connected();
  server_->kill_hard();
  EXPECT_EQ(one->read_error().kind, Kind::closed);
}

TEST_F(FaultProxyTest, ReachesIpv6AndUnixSockets) {
  const RedisServer v6({.bind = "::1"});
  proxy_ = std::make_unique<FaultProxy>(v6.port(), "::1");
  connected();
  proxy_ = std::make_unique<FaultProxy>(v6.unix_path());
  connected();
}

TEST_F(FaultProxyTest, TheServerFixtureFreezesRestartsAndKeepsWhatItShould) {
  RedisServer durable({.user = {"app", "on", ">pw", "~lock:*", "+@all"}, .persistent = true});
  EXPECT_EQ(durable.command({"SET", "lock:a", "1"}), "OK");
  EXPECT_EQ(durable.calls("set"), 1);
  durable.restart();
  EXPECT_EQ(durable.command({"GET", "lock:a"}), "1");
  durable.kill_hard();
  durable.start();
  EXPECT_EQ(durable.command({"GET", "lock:a"}), "1");
  NetClient direct(loop_, {.host = "127.0.0.1", .port = durable.port()});
  ASSERT_FALSE(direct.connect());
  EXPECT_EQ(direct.ask("PING\r\n").substr(0, 7), "-NOAUTH");
  EXPECT_EQ(direct.ask("AUTH app pw\r\n"), "+OK\r\n");
  EXPECT_EQ(direct.ask("GET lock:a\r\n"), "$1\r\n");
  durable.freeze();
  direct.stream().write("PING\r\n");
  durable.thaw();
  EXPECT_EQ(direct.read_line(), "1\r\n");
  EXPECT_EQ(direct.read_line(), "+PONG\r\n");
}

}  // namespace
}  // namespace holdfast::test

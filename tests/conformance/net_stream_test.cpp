// Streams against real peers: plain TCP and unix sockets.
#include "net/stream.hpp"

#include "net/dialer.hpp"
#include "runtime/event_loop.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/free_port.hpp"
#include "tests/support/net_client.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/required.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::NetClient;
using test::RedisServer;
using Kind = StreamError::Kind;

class Streams : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  }
  EventLoop loop_{};
};

TEST_F(Streams, TalkOverIpv4Ipv6UnixSocketsAndNames) {
  RedisServer v4;
  RedisServer v6({.bind = "::1"});
  for (const Endpoint& endpoint :
       {Endpoint{.host = "127.0.0.1", .port = v4.port()},
        Endpoint{.host = "::1", .port = v6.port()},
        Endpoint{.host = "localhost", .port = v4.port()}, Endpoint{.unix_path = v4.unix_path()}}) {
    NetClient client(loop_, endpoint);
    EXPECT_EQ(client.connect().kind, Kind::none) << endpoint.text();
    EXPECT_EQ(client.ask("PING\r\n"), "+PONG\r\n") << endpoint.text();
  }
}

TEST_F(Streams, NothingIsCalledFromInsideACall) {
  RedisServer server;
  auto stream = make_stream(loop_, {.host = "127.0.0.1", .port = server.port()});
  bool connected = false;
  stream->connect([&](const StreamError&) { connected = true; });
  EXPECT_FALSE(connected);
  loop_.run_until([&] { return connected; });
  std::array<char, 64> buffer{};
  std::size_t count = 0;
  stream->write("PING\r\n");
  while (server.calls("ping") < 2) {  // the other is the fixture's: the answer has arrived
  }
  stream->read_some(buffer, [&](const StreamError&, std::size_t n) { count = n; });
  EXPECT_EQ(count, 0U);
  loop_.run_until([&] { return count > 0; });
}

TEST_F(Streams, ARequestLargerThanTheSocketsBuffersArrivesWhole) {
  RedisServer server;
  NetClient client(loop_, {.host = "127.0.0.1", .port = server.port()});
  ASSERT_FALSE(client.connect());
  const std::string value(32U << 20U, 'x');
  server.freeze();
  client.stream().write("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + std::to_string(value.size()) + "\r\n");
  client.stream().write(value);
  client.stream().write("\r\n");
  EXPECT_GT(client.stream().unsent(), 0U) << "a stopped server cannot have taken 32 MiB";
  server.thaw();
  EXPECT_EQ(client.read_line(), "+OK\r\n");
  EXPECT_EQ(client.stream().unsent(), 0U);
  EXPECT_EQ(server.command({"STRLEN", "k"}), std::to_string(value.size()));
}

TEST_F(Streams, SayWhyTheyCannotConnect) {
  const std::uint16_t port = test::free_port();
  NetClient refused(loop_, {.host = "127.0.0.1", .port = port});
  const StreamError error = refused.connect();
  EXPECT_EQ(error.kind, Kind::refused);
  EXPECT_EQ(error.detail,
            "cannot connect to 127.0.0.1:" + std::to_string(port) + ": Connection refused");
  NetClient both(loop_, {.host = "localhost", .port = port});
  EXPECT_EQ(both.connect().kind, Kind::refused);
  NetClient missing(loop_, {.unix_path = "/nowhere/s"});
  EXPECT_EQ(missing.connect().kind, Kind::refused);
  NetClient too_long(loop_, {.unix_path = "/" + std::string(200, 'x')});
  EXPECT_EQ(too_long.connect().kind, Kind::unreachable);
  NetClient no_zone(loop_, {.host = "fe80::1%nosuchzone", .port = port});
  EXPECT_NE(no_zone.connect().detail.find("network interface"), std::string::npos);
}

TEST_F(Streams, SayThatThePeerClosedOrReset) {
  RedisServer server;
  FaultProxy proxy(server.port());
  NetClient reset(loop_, {.host = "127.0.0.1", .port = proxy.port()});
  ASSERT_FALSE(reset.connect());
  ASSERT_EQ(reset.ask("PING\r\n"), "+PONG\r\n");
  proxy.reset_open();
  const StreamError error = reset.read_error();
  EXPECT_EQ(error.kind, Kind::closed);
  EXPECT_NE(error.detail.find("reset"), std::string::npos) << error.detail;
  EXPECT_EQ(reset.read_error().kind, Kind::closed) << "and says so again";

  NetClient closed(loop_, {.host = "127.0.0.1", .port = server.port()});
  ASSERT_FALSE(closed.connect());
  EXPECT_EQ(closed.ask("QUIT\r\n"), "+OK\r\n");
  EXPECT_NE(closed.read_error().detail.find("closed the connection"), std::string::npos);
}

TEST_F(Streams, AWriteToAClosedPeerRaisesNoSignalAndIsToldByTheRead) {
  RedisServer server;
  NetClient client(loop_, {.host = "127.0.0.1", .port = server.port()});
  ASSERT_FALSE(client.connect());
  server.kill_hard();
  StreamError error;
  client.stream().read_some(client.buffer(), [&](const StreamError& e, std::size_t) { error = e; });
  for (int i = 0; i < 100; ++i) client.stream().write(std::string(100'000, 'x'));
  loop_.run_until([&] { return static_cast<bool>(error); });
  EXPECT_EQ(error.kind, Kind::closed);
  EXPECT_GT(client.stream().unsent(), 0U);
}

TEST_F(Streams, CloseDropsPendingHandlersEvenFromInsideOne) {
  RedisServer server;
  const auto witness = std::make_shared<int>(0);
  auto stream = make_stream(loop_, {.host = "127.0.0.1", .port = server.port()});
  stream->connect([witness](const StreamError&) { FAIL(); });
  stream->close();
  EXPECT_EQ(witness.use_count(), 1);

  bool done = false;
  auto other = make_stream(loop_, {.host = "127.0.0.1", .port = server.port()});
  std::array<char, 64> buffer{};
  other->connect([&, witness](const StreamError& error) {
    ASSERT_FALSE(error);
    other->read_some(buffer, [witness](const StreamError&, std::size_t) { FAIL(); });
    other.reset();
    done = true;
  });
  loop_.run_until([&] { return done; });
  EXPECT_EQ(witness.use_count(), 1);
  bool settled = false;
  loop_.call_at(loop_.now() + 5ms, [&] { settled = true; });
  loop_.run_until([&] { return settled; });
}

TEST_F(Streams, WhatTheKernelTookIsDeliveredAfterClose) {
  RedisServer server;
  NetClient client(loop_, {.host = "127.0.0.1", .port = server.port()});
  ASSERT_FALSE(client.connect());
  server.freeze();
  client.stream().write("PING\r\nSET late 1\r\n");
  EXPECT_EQ(client.stream().unsent(), 0U);
  client.stream().close();
  server.thaw();
  EXPECT_TRUE(test::eventually([&] { return server.command({"GET", "late"}) == "1"; }));
}

TEST_F(Streams, AForkedChildThatDropsAStreamDoesNotHurtTheParents) {
  RedisServer server;
  auto client =
      std::make_unique<NetClient>(loop_, Endpoint{.host = "127.0.0.1", .port = server.port()});
  ASSERT_FALSE(client->connect());
  ASSERT_EQ(client->ask("PING\r\n"), "+PONG\r\n");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    client.reset();
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(client->ask("PING\r\n"), "+PONG\r\n");
}

// A name with one address that never answers must not hold up the other.
TEST(Dialer, ASilentAddressDoesNotHoldUpTheNext) {
  EventLoop loop;
  const test::DeafListener deaf("127.0.0.1");
  const test::SilentPeer good(test::SilentPeer::Protocol::tcp);
  const std::uint16_t nobody = test::free_port();
  Addresses addresses;
  for (const std::uint16_t port : {nobody, deaf.port(), good.port()}) {
    addresses.push_back(*SocketAddress::from_literal("127.0.0.1", port));
  }
  const Instant start = loop.now();
  bool done = false;
  const Dialer dialer(loop, addresses, "db1:6379",
                      [&](const StreamError& error, std::unique_ptr<Descriptor> winner) {
                        EXPECT_FALSE(error) << error.detail;
                        EXPECT_NE(winner, nullptr);
                        done = true;
                      });
  EXPECT_FALSE(done);
  loop.run_until([&] { return done; });
  EXPECT_LT(loop.now() - start, 1s);
}

TEST(C17, AnAddressThatDropsSynsHoldsUpNothing) {
  EventLoop loop;
  const test::DeafListener deaf("127.0.0.1");
  NetClient client(loop, {.host = "127.0.0.1", .port = deaf.port()});
  const Instant start = loop.now();
  EXPECT_FALSE(client.connect_within(200ms));
  EXPECT_LT(loop.now() - start, 500ms);
  EXPECT_EQ(client.stream().doing(), "connecting to 127.0.0.1:" + std::to_string(deaf.port()));
}

}  // namespace
}  // namespace holdfast::net

// Names: whatever a name server does, the loop goes on and the caller's deadline holds.
#include "net/resolver.hpp"

#include "runtime/event_loop.hpp"
#include "tests/support/net_client.hpp"

#include <gtest/gtest.h>

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
using test::NetClient;
using test::SilentPeer;
using Kind = StreamError::Kind;

TEST(Resolver, FindsLocalhostWithoutANetwork) {
  EventLoop loop;
  const SilentPeer name_server(SilentPeer::Protocol::udp);
  Resolver resolver(loop, name_server.place());
  Addresses found;
  bool done = false;
  resolver.resolve("localhost", 6379, [&](const StreamError& error, const Addresses& addresses) {
    EXPECT_FALSE(error) << error.detail;
    found = addresses;
    done = true;
  });
  EXPECT_FALSE(done) << "never from inside the call";
  loop.run_until([&] { return done; });
  ASSERT_FALSE(found.empty());
  for (const SocketAddress& address : found) {
    EXPECT_TRUE(address.text() == "127.0.0.1:6379" || address.text() == "[::1]:6379")
        << address.text();
  }
}

TEST(C17, ANameServerThatNeverAnswersHoldsUpNothing) {
  EventLoop loop;
  const SilentPeer name_server(SilentPeer::Protocol::udp);
  NetClient client(loop, {.host = "db.example", .port = 1, .name_servers = name_server.place()});
  const Instant start = loop.now();
  EXPECT_FALSE(client.connect_within(300ms)) << "the caller's deadline came first";
  EXPECT_LT(loop.now() - start, 600ms);
  EXPECT_EQ(client.stream().doing(), "looking up the host name \"db.example\"");
  client.stream().close();
  EXPECT_LT(loop.now() - start, 600ms) << "and closing does not wait for it";
}

TEST(C17, ASilentNameServerIsGivenUpInTheEnd) {
  EventLoop loop;
  const SilentPeer name_server(SilentPeer::Protocol::udp);
  NetClient client(loop, {.host = "db.example", .port = 1, .name_servers = name_server.place()});
  const auto error = client.connect_within(10s);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::dns);
  EXPECT_EQ(error->detail, "no name server answered when asked for \"db.example\"");
}

TEST(Resolver, MayBeDestroyedInEveryState) {
  EventLoop loop;
  const SilentPeer name_server(SilentPeer::Protocol::udp);
  const auto witness = std::make_shared<int>(0);
  {
    const Resolver unused(loop, name_server.place());
    Resolver asking(loop, name_server.place());
    asking.resolve("db.example", 1, [witness](const auto&, const auto&) { FAIL(); });
    Resolver answered(loop, name_server.place());
    answered.resolve("localhost", 1, [witness](const auto&, const auto&) { FAIL(); });
  }
  EXPECT_EQ(witness.use_count(), 1);
  auto resolver = std::make_unique<Resolver>(loop, name_server.place());
  bool done = false;
  resolver->resolve("localhost", 1, [&](const auto&, const auto&) {
    resolver.reset();
    done = true;
  });
  loop.run_until([&] { return done; });
}

}  // namespace
}  // namespace holdfast::net

// TLS: verified by default and failing closed, with one clear line for each way to be wrong.
#include "net/stream.hpp"

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

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::NetClient;
using test::RedisServer;
using test::TestCertificates;
using Certificate = TestCertificates::Kind;
using Kind = StreamError::Kind;

class C24Tls : public ::testing::Test {
 protected:
  void SetUp() override {
    const bool possible = RedisServer::installed() && TestCertificates::possible();
    HOLDFAST_NEEDS("redis", possible, "there is no redis-server or no openssl command");
  }

  static std::shared_ptr<const TlsClient> trusting(std::string name = {}) {
    return std::make_shared<TlsClient>(
        TlsOptions{.ca_file = TestCertificates::get().authority(), .name = std::move(name)});
  }

  StreamError connect(const std::string& host, std::uint16_t port,
                      std::shared_ptr<const TlsClient> tls) {
    NetClient client(loop_, {.host = host, .port = port, .tls = std::move(tls)});
    return client.connect();
  }

  EventLoop loop_{};
};

TEST_F(C24Tls, ConnectsByNameByAddressAndByANameToExpect) {
  const RedisServer good({.tls = Certificate::good});
  for (const char* host : {"localhost", "127.0.0.1"}) {
    NetClient client(loop_, {.host = host, .port = good.port(), .tls = trusting()});
    EXPECT_EQ(client.connect().detail, "") << host;
    EXPECT_EQ(client.ask("PING\r\n"), "+PONG\r\n") << host;
  }
  const RedisServer v6({.bind = "::1", .tls = Certificate::good});
  EXPECT_EQ(connect("::1", v6.port(), trusting()).detail, "");

  const RedisServer named({.tls = Certificate::only_names});
  EXPECT_EQ(connect("127.0.0.1", named.port(), trusting("redis.test")).detail, "");
}

TEST_F(C24Tls, RefusesAWrongName) {
  const RedisServer named({.tls = Certificate::only_names});
  const std::string port = std::to_string(named.port());
  const StreamError by_address = connect("127.0.0.1", named.port(), trusting());
  EXPECT_EQ(by_address.kind, Kind::tls);
  EXPECT_EQ(by_address.detail,
            "the certificate of 127.0.0.1:" + port +
                " is not for \"127.0.0.1\"; tls_name= says which name to expect");
  const StreamError by_name = connect("localhost", named.port(), trusting());
  EXPECT_EQ(by_name.kind, Kind::tls);
  EXPECT_NE(by_name.detail.find("is not for \"localhost\""), std::string::npos) << by_name.detail;
}

TEST_F(C24Tls, RefusesExpiredAndUnknown) {
  const RedisServer expired({.tls = Certificate::expired});
  const StreamError old = connect("localhost", expired.port(), trusting());
  EXPECT_EQ(old.kind, Kind::tls);
  EXPECT_NE(old.detail.find("has expired"), std::string::npos) << old.detail;

  const RedisServer foreign({.tls = Certificate::other_signer});
  const StreamError unknown = connect("localhost", foreign.port(), trusting());
  EXPECT_EQ(unknown.kind, Kind::tls);
  EXPECT_NE(unknown.detail.find("unknown authority"), std::string::npos) << unknown.detail;

  const RedisServer good({.tls = Certificate::good});
  const auto system = std::make_shared<TlsClient>(TlsOptions{});
  EXPECT_NE(connect("localhost", good.port(), system).detail.find("unknown authority"),
            std::string::npos)
      << "the test's authority is not the system's";
}

TEST_F(C24Tls, SaysWhatIsWrongWithTheFileOfAuthorities) {
  const RedisServer good({.tls = Certificate::good});
  const auto missing = std::make_shared<TlsClient>(TlsOptions{.ca_file = "/nowhere/ca.crt"});
  const StreamError error = connect("localhost", good.port(), missing);
  EXPECT_EQ(error.kind, Kind::tls);
  EXPECT_EQ(error.detail.rfind("cannot load the authorities in tls_ca=/nowhere/ca.crt: ", 0), 0U)
      << error.detail;
}

TEST_F(C24Tls, APlainServerIsToldApart) {
  test::SilentPeer plain(test::SilentPeer::Protocol::tcp);
  loop_.call_at(loop_.now() + 10ms, [&] { plain.answer("-ERR what?\r\n"); });
  const StreamError error = connect("127.0.0.1", plain.port(), trusting());
  EXPECT_EQ(error.kind, Kind::tls);
  EXPECT_NE(error.detail.find("TLS"), std::string::npos) << error.detail;
}

// openssl's own server prints the name that the client sent.
TEST_F(C24Tls, SendsTheNameOnlyWhenItIsAName) {
  const auto name_sent = [this](const std::string& host, const std::string& tls_name) {
    const TestCertificates& files = TestCertificates::get();
    const std::string port = std::to_string(test::free_port());
    test::Process server(
        {.args = {"openssl", "s_server", "-accept", "127.0.0.1:" + port, "-cert",
                  files.certificate(Certificate::good), "-key", files.key(Certificate::good),
                  "-tlsextdebug", "-www", "-naccept", "1"}});
    EXPECT_TRUE(test::eventually([&] { return server.out().find("ACCEPT") != std::string::npos; }));
    EXPECT_EQ(connect(host, static_cast<std::uint16_t>(std::stoi(port)), trusting(tls_name)).detail,
              "");
    server.wait(5s);
    return server.out();
  };
  EXPECT_NE(name_sent("127.0.0.1", "redis.test").find("server name"), std::string::npos);
  EXPECT_NE(name_sent("localhost", "").find("localhost"), std::string::npos);
  EXPECT_EQ(name_sent("127.0.0.1", "").find("server name"), std::string::npos);
}

TEST_F(C24Tls, AStalledHandshakeEndsAtTheCallersDeadline) {
  const test::SilentPeer silent(test::SilentPeer::Protocol::tcp);
  NetClient client(loop_, {.host = "127.0.0.1", .port = silent.port(), .tls = trusting()});
  const Instant start = loop_.now();
  EXPECT_FALSE(client.connect_within(200ms));
  EXPECT_LT(loop_.now() - start, 500ms);
  EXPECT_EQ(client.stream().doing(), "in the TLS handshake with " + silent.place());
}

TEST_F(C24Tls, CarriesLargeRequestsAndAnswersWhole) {
  RedisServer server({.tls = Certificate::good});
  NetClient client(loop_, {.host = "localhost", .port = server.port(), .tls = trusting()});
  ASSERT_FALSE(client.connect());
  const std::string value(4U << 20U, 'x');
  client.stream().write("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + std::to_string(value.size()) + "\r\n");
  client.stream().write(value + "\r\n");
  EXPECT_EQ(client.read_line(), "+OK\r\n");
  EXPECT_EQ(client.ask("GET k\r\n"), "$" + std::to_string(value.size()) + "\r\n");
  EXPECT_EQ(client.read_line(), value + "\r\n");
}

TEST_F(C24Tls, SaysThatThePeerIsGone) {
  RedisServer server({.tls = Certificate::good});
  FaultProxy proxy(server.port());
  NetClient reset(loop_, {.host = "localhost", .port = proxy.port(), .tls = trusting()});
  ASSERT_FALSE(reset.connect());
  ASSERT_EQ(reset.ask("PING\r\n"), "+PONG\r\n");
  proxy.reset_open();
  EXPECT_EQ(reset.read_error().kind, Kind::closed);
  EXPECT_EQ(reset.read_error().kind, Kind::closed);

  NetClient killed(loop_, {.host = "localhost", .port = server.port(), .tls = trusting()});
  ASSERT_FALSE(killed.connect());
  server.kill_hard();
  killed.stream().write("PING\r\n");
  EXPECT_EQ(killed.read_error().kind, Kind::closed);
}

TEST_F(C24Tls, AForkedChildSendsNothingOnTheParentsConnection) {
  RedisServer server({.tls = Certificate::good});
  auto client = std::make_unique<NetClient>(
      loop_, Endpoint{.host = "localhost", .port = server.port(), .tls = trusting()});
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

}  // namespace
}  // namespace holdfast::net

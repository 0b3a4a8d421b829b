// C24: every way to write where a Redis is: IPv4, IPv6, names, unix sockets, TLS with names to
// verify. Verification is on, and fails closed with a message that helps.
#include <holdfast/holdfast.hpp>

#include "tests/support/redis_server.hpp"
#include "tests/support/required.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;
using test::RedisOptions;
using test::RedisServer;
using test::TestCertificates;

class C24Redis : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  }
  static void expect_works(const std::string& url) {
    SCOPED_TRACE(url);
    try {
      Client client{url};
      Mutex mutex{client, "job", {.ttl = 10s}};
      Lease lease = mutex.acquire({.timeout = 5s});
      EXPECT_GT(to_int(lease.fence()), 0);
      lease.release();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  // Fails at once, by `code`, with a detail that says `says`.
  static void expect_refused(const std::string& url, errc code, const std::string& says) {
    SCOPED_TRACE(url);
    try {
      Client client{url};
      const Lease lease = Mutex{client, "job"}.acquire({.timeout = 0s});
      ADD_FAILURE() << "it was granted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(error.detail().find(says), std::string::npos) << error.what();
    }
  }
};

TEST_F(C24Redis, AddressesAndNames) {
  RedisServer four;
  const std::string port = std::to_string(four.port());
  expect_works("redis://127.0.0.1:" + port);
  expect_works("redis://127.0.0.1:" + port + "/2");
  expect_works("redis://localhost:" + port);
  expect_works("redis://[::ffff:127.0.0.1]:" + port);
  expect_works(four.unix_url());
  RedisServer six{{.bind = "::1"}};
  const std::string port6 = std::to_string(six.port());
  expect_works("redis://[::1]:" + port6);
  expect_works("redis://[::1]:" + port6 + "/2");
  expect_works("redis://[::1%25lo]:" + port6);
}

TEST_F(C24Redis, TlsVerifiesByDefault) {
  const std::string ca = "?tls_ca=" + TestCertificates::get().authority();
  RedisServer good{{.tls = TestCertificates::Kind::good}};
  const std::string port = std::to_string(good.port());
  expect_works("rediss://localhost:" + port + ca);
  expect_works("rediss://127.0.0.1:" + port + ca);
  expect_refused("rediss://localhost:" + port, errc::access_denied, "certificate");
  expect_refused("rediss://127.0.0.1:" + port + ca + "&tls_name=other.test", errc::access_denied,
                 "other.test");
  RedisServer six{{.bind = "::1", .tls = TestCertificates::Kind::good}};
  expect_works("rediss://[::1]:" + std::to_string(six.port()) + ca);
}

// What Sentinel or a container announces is an address; the certificate names a host.
TEST_F(C24Redis, ANameToVerifyCanBeGiven) {
  const std::string ca = "?tls_ca=" + TestCertificates::get().authority();
  RedisServer named{{.tls = TestCertificates::Kind::only_names}};
  const std::string url = "rediss://127.0.0.1:" + std::to_string(named.port()) + ca;
  expect_refused(url, errc::access_denied, "tls_name=");
  expect_works(url + "&tls_name=redis.test");
}

TEST_F(C24Redis, BadCertificatesAreRefused) {
  const std::string ca = "?tls_ca=" + TestCertificates::get().authority();
  RedisServer expired{{.tls = TestCertificates::Kind::expired}};
  expect_refused("rediss://localhost:" + std::to_string(expired.port()) + ca, errc::access_denied,
                 "expired");
  RedisServer stranger{{.tls = TestCertificates::Kind::other_signer}};
  expect_refused("rediss://localhost:" + std::to_string(stranger.port()) + ca, errc::access_denied,
                 "certificate");
}

// It says nothing to a TLS greeting, so only the message can say what is wrong.
TEST_F(C24Redis, AServerWithoutTlsIsToldByWhereItStopped) {
  RedisServer plain;
  const std::string port = std::to_string(plain.port());
  expect_refused("rediss://127.0.0.1:" + port, errc::store_unavailable, "TLS handshake");
}

TEST_F(C24Redis, MalformedUrlsNameWhatIsWrong) {
  for (const auto& [url, says] :
       std::vector<std::pair<std::string, std::string>>{{"redis://", "server"},
                                                        {"redis://h:port", "port"},
                                                        {"redis://h:70000", "70000"},
                                                        {"redis://h:0", "0"},
                                                        {"redis://[::1", "::1"},
                                                        {"redis://[::g]", "::g"},
                                                        {"redis://h/x", "x"},
                                                        {"redis://h?nonsense=1", "nonsense"},
                                                        {"redis://h?op_timeout=soon", "soon"},
                                                        {"redis://a,b", "one"},
                                                        {"redis+unix://", "path"},
                                                        {"redis://h?tls_ca=/x", "tls_ca"},
                                                        {"nosuch://h", "nosuch"}}) {
    try {
      const Client client{url};
      ADD_FAILURE() << url << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), errc::invalid_url) << url;
      EXPECT_NE(std::string{error.what()}.find(says), std::string::npos)
          << url << ": " << error.what();
    }
  }
}

class C23Library : public C24Redis {};

// The list of docs/stores/redis.md, and nothing more, is enough for every verb of a client.
TEST_F(C23Library, ThePublishedRightsAreEnough) {
  RedisServer server;
  server.command({"ACL",
                  "SETUSER",
                  "locks",
                  "on",
                  ">pw",
                  "resetchannels",
                  "~lock:*",
                  "&lock:*",
                  "+eval",
                  "+evalsha",
                  "+get",
                  "+mget",
                  "+set",
                  "+del",
                  "+exists",
                  "+pttl",
                  "+pexpireat",
                  "+hset",
                  "+hget",
                  "+hmget",
                  "+hdel",
                  "+zadd",
                  "+zrem",
                  "+zrange",
                  "+hlen",
                  "+hvals",
                  "+zcard",
                  "+zrevrange",
                  "+zrangebyscore",
                  "+zscore",
                  "+time",
                  "+publish",
                  "+subscribe",
                  "+scan"});
  std::string url = server.url();
  url.insert(url.find("//") + 2, "locks@");
  Client a{url, {.password = "pw"}};
  Client b{url, {.password = "pw"}};
  Mutex mine{a, "job", {.ttl = 1s}};
  Mutex theirs{b, "job", {.ttl = 1s}};
  Lease lease = mine.acquire({.timeout = 5s});
  std::promise<std::error_code> won;
  theirs.start_acquire({.timeout = 20s}, [&](std::error_code ec, Lease next) {
    won.set_value(ec);
    next.release(ec);
  });
  std::this_thread::sleep_for(1500ms);
  EXPECT_TRUE(lease.valid()) << "it could not be renewed";
  EXPECT_EQ(b.inspect("job").waiters.size(), 1U);
  EXPECT_EQ(a.list().names.size(), 1U);
  lease.release();
  EXPECT_FALSE(won.get_future().get());
  const Lease again = mine.acquire({.timeout = 5s});
  EXPECT_EQ(b.break_name("job").holders.size(), 1U);
}

// With less the first operation says what is missing, and grants nothing.
TEST_F(C23Library, AMissingRightIsNamedBeforeAnythingIsGranted) {
  RedisServer server;
  for (const std::string missing : {"-PUBLISH", "-EVALSHA", "-SUBSCRIBE", "-ZADD"}) {
    server.command({"ACL", "SETUSER", "few", "on", ">pw", "allcommands", "-@dangerous", "~lock:*",
                    "resetchannels", "&lock:*", missing});
    std::string url = server.url();
    url.insert(url.find("//") + 2, "few@");
    Client client{url, {.password = "pw"}};
    try {
      const Lease lease = Mutex{client, "job"}.acquire({.timeout = 2s});
      ADD_FAILURE() << "granted without " << missing;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), errc::access_denied) << missing << ": " << error.what();
      EXPECT_NE(error.detail().find(missing.substr(1)), std::string::npos) << error.what();
    }
    EXPECT_EQ(server.command({"KEYS", "*"}), "") << "something is left behind";
    server.command({"ACL", "DELUSER", "few"});
  }
}

}  // namespace
}  // namespace holdfast::chaos

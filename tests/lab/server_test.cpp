// The page's server as it is started, over real sockets.
#include "sim/random.hpp"
#include "tests/lab/lab_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/required.hpp"

#include <holdfast/mutex.hpp>

#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include <array>
#include <future>
#include <memory>

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

httplib::Client client_of(const Lab& lab) {
  httplib::Client client{"127.0.0.1", lab.port()};
  client.set_read_timeout(10s);
  return client;
}

TEST(LabServer, ServesThePageUntilASignal) {
  Lab lab{{"--story", "gc-pause", "--seed", "7"}};
  EXPECT_NE(lab.child().out().find("/?story=gc-pause&seed=7"), std::string::npos);
  auto client = client_of(lab);
  const auto page = client.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_NE(page->body.find("holdfast lab"), std::string::npos);
  EXPECT_NE(page->get_header_value("Content-Security-Policy").find("default-src 'none'"),
            std::string::npos);
  EXPECT_EQ(page->get_header_value("X-Content-Type-Options"), "nosniff");
  const auto run = client.Get("/api/run?story=gc-pause&seed=7");
  ASSERT_TRUE(run);
  EXPECT_EQ(Json::parse(run->body)["verdict"]["double_payouts"], 1);
  const auto saved = client.Get("/api/picture?story=gc-pause");
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->get_header_value("Content-Disposition"),
            "attachment; filename=\"holdfast-gc-pause.svg\"");
  const auto foreign = client.Get("/", {{"Host", "evil.example"}});
  ASSERT_TRUE(foreign);
  EXPECT_EQ(foreign->status, 403);
  lab.child().signal(SIGINT);
  EXPECT_EQ(lab.child().wait(10s), 0);
}

TEST(LabServer, APictureIsTheSameAfterARestart) {
  const char* const address = "/api/run?story=failover&seed=12";
  const auto once = client_of(Lab{}).Get(address);
  const auto again = client_of(Lab{}).Get(address);
  ASSERT_TRUE(once && again);
  EXPECT_EQ(once->body, again->body);
}

TEST(LabServer, ATakenPortIsALine) {
  Lab lab;
  Process second({.args = {HOLDFAST_COMMAND, "lab", "--port", std::to_string(lab.port())}});
  EXPECT_EQ(second.wait(10s), 69);
  EXPECT_NE(second.err().find("cannot listen on 127.0.0.1:"), std::string::npos);
  Process nonsense({.args = {HOLDFAST_COMMAND, "lab", "--port", "65536"}});
  EXPECT_EQ(nonsense.wait(10s), 64);
  Process whose({.args = {HOLDFAST_COMMAND, "lab", "--allow-break"}});
  EXPECT_EQ(whose.wait(10s), 64);
}

// A connection of its own.
class Line {
 public:
  explicit Line(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() { close(socket_); }

  void say(const std::string& bytes) const {
    send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // Says no more, and hears the other side out.
  std::string hear() const {
    shutdown(socket_, SHUT_WR);
    std::string answer;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = recv(socket_, buffer.data(), buffer.size(), 0)) > 0;) {
      answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return answer;
  }

 private:
  int socket_;
};

std::string exchange(int port, const std::string& bytes) {
  const Line line{port};
  line.say(bytes);
  return line.hear();
}

std::string random_request(sim::Random& random) {
  static const std::vector<std::string> pieces{"GET ",
                                               "POST ",
                                               "/",
                                               "/api/run?",
                                               "/api/hunt?",
                                               "/api/break?",
                                               "/api/locks?",
                                               "story",
                                               "=",
                                               "&",
                                               "gc-pause",
                                               "seed=1",
                                               "%",
                                               "%zz",
                                               "\r\n",
                                               "Host: localhost\r\n",
                                               " HTTP/1.1",
                                               "Content-Length: 99999999999\r\n",
                                               "Range: bytes=0-1,1-2,-5\r\n",
                                               "\r\n\r\n",
                                               "instances=20",
                                               "Transfer-Encoding: chunked\r\n",
                                               "\xff\xfe",
                                               "ttl=1ms",
                                               "width=99999999999"};
  std::string bytes;
  if (random.chance(500)) {
    bytes = "GET /api/run?";
  }
  for (auto left = random.between(0, 12); left > 0; --left) {
    if (random.chance(150)) {
      bytes.append(static_cast<std::size_t>(random.between(1, 12'000)),
                   static_cast<char>(random.below(256)));
    } else {
      bytes += random.pick<std::string>(pieces);
    }
  }
  return random.chance(500) ? bytes + " HTTP/1.1\r\nHost: localhost\r\n\r\n" : bytes;
}

TEST(LabServer, HostileBytesNeitherCrashNorSwellIt) {
  const Lab lab;
  sim::Random random{20261130};
  constexpr int all = 10'000;
  int answered = 0;
  for (int sent = 0; sent < all; ++sent) {
    const std::string answer = exchange(lab.port(), random_request(random));
    if (answer.empty()) {
      continue;  // it may hang up on nonsense
    }
    ++answered;
    ASSERT_TRUE(answer.starts_with("HTTP/1.1 ")) << answer.substr(0, 80);
    EXPECT_FALSE(answer.starts_with("HTTP/1.1 5")) << answer.substr(0, 200);
  }
  EXPECT_GT(answered, all / 20);  // an answer to a part of what was sent may be lost by a reset
  EXPECT_LE(lab.most_memory(), 64 * 1024);
  const auto after = client_of(lab).Get("/api/run?story=gc-pause");
  ASSERT_TRUE(after);
  EXPECT_EQ(after->status, 200);
}

// Somebody who never ends his sentence keeps nobody else from being answered.
TEST(LabServer, HalfARequestDoesNotBlockOthers) {
  const Lab lab;
  std::vector<std::unique_ptr<Line>> lines;
  for (int i = 0; i < 6; ++i) {
    lines.push_back(std::make_unique<Line>(lab.port()));
    lines.back()->say("GET / HTTP/1.1\r\nHost: loc");
  }
  const auto answer = client_of(lab).Get("/api/catalogue");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

TEST(LabServer, ShowsAHolderAndTwoWaitersOfRedisAndBreaks) {
  HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  const RedisServer redis;
  Client client{redis.url()};
  Mutex mutex{client, "payout", {.ttl = 30s, .note = "nightly"}};
  std::optional<Lease> lease = mutex.acquire();
  std::vector<std::future<void>> waiters;
  for (int i = 0; i < 2; ++i) {
    waiters.push_back(
        std::async(std::launch::async, [&] { mutex.acquire({.timeout = 20s}).release(); }));
  }
  Lab lab{{"--store", redis.url(), "--allow-break"}};
  auto http = client_of(lab);
  const auto look = [&] { return Json::parse(http.Get("/api/locks?prefix=pay")->body); };
  Json seen;
  EXPECT_TRUE(eventually([&] {
    seen = look();
    return seen["names"].size() == 1 && seen["names"][0]["waiters"].size() == 2;
  })) << seen;
  EXPECT_EQ(seen["names"][0]["holders"][0]["note"], "nightly");
  EXPECT_EQ(seen["names"][0]["holders"][0]["fence"], to_int(lease->fence()));
  EXPECT_EQ(seen["may_break"], true);

  const auto refused = http.Post("/api/break?name=payout");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 403);
  EXPECT_FALSE(lease->lost().stop_requested());
  const auto broken = http.Post("/api/break?name=payout", {{"X-Holdfast-Lab", "1"}}, "", "");
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->status, 200) << broken->body;
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
  lease.reset();
  for (auto& waiter : waiters) {
    EXPECT_NO_THROW(waiter.get());
  }
  EXPECT_TRUE(eventually([&] { return !look()["events"].empty(); }));
}

}  // namespace

}  // namespace holdfast::test

// C34, the command's part: whatever goes wrong while acquiring, the command is never started.
#include "tests/chaos/command_test.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/odd_server.hpp"

#include <csignal>

namespace holdfast::test {

namespace {

class C34 : public ::testing::Test {
 protected:
  // The command would leave a file.
  std::unique_ptr<Process> start(const std::string& store, const std::string& wait,
                                 std::vector<std::pair<std::string, std::string>> env = {}) const {
    ProcessOptions options;
    options.args = {HOLDFAST_COMMAND, "run", "--store", store, "--wait", wait, "n", "--",
                    "/bin/sh",        "-c",  "> wrong"};
    options.env = std::move(env);
    options.directory = folder_.path().string();
    return std::make_unique<Process>(std::move(options));
  }
  void expect_refused(Process& child, const std::string& says = {}) const {
    EXPECT_EQ(child.wait(6s), 69) << child.err();
    const std::string err = child.err();
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_NE(err.find(says), std::string::npos) << err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "wrong"));
  }
  void expect_refused(const std::string& store, const std::string& says = {},
                      std::vector<std::pair<std::string, std::string>> env = {}) const {
    SCOPED_TRACE(store);
    expect_refused(*start(store, "0", std::move(env)), says);
  }
  // By servers that answer so, all at once.
  void expect_refused_by(const std::vector<std::string>& answers, const std::string& wait) const {
    std::vector<std::unique_ptr<OddServer>> servers;
    std::vector<std::unique_ptr<Process>> children;
    for (const std::string& answer : answers) {
      servers.push_back(std::make_unique<OddServer>(answer));
      children.push_back(start(servers.back()->url(), wait));
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
      SCOPED_TRACE(answers[i]);
      expect_refused(*children[i]);
    }
  }
  const TempDir& folder() const { return folder_; }

 private:
  TempDir folder_{};
};

TEST_F(C34, OddAnswersStartNothing) {
  const std::vector<std::string> answers{
      "",
      "-LOADING Redis is loading the dataset in memory\r\n",
      "-READONLY You can't write against a read only replica.\r\n",
      "-CLUSTERDOWN Hash slot not served\r\n",
      "-BUSY Redis is busy running a script.\r\n",
      "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
      "-MASTERDOWN Link with MASTER is down\r\n",
      "-MISCONF Redis is configured to save RDB snapshots\r\n",
      "-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
      "-ERR unknown command\r\n",
      "HTTP/1.1 400 Bad Request\r\n\r\n",
      std::string("\0\xff\x17garbage", 10),
      ":1\r\n",
      "$0\r\n\r\n",
      "$-1\r\n",
      "*0\r\n",
      "*-1\r\n",
      "*3\r\n$7\r\ngranted\r\n$-1\r\n:0\r\n",
      "+OK\r\n",
      "$2147483647\r\nx",
      "*99999999\r\n",
  };
  expect_refused_by(answers, "0");
}

TEST_F(C34, PatienceDoesNotHelpEither) {
  expect_refused_by({"", "-LOADING Redis is loading the dataset in memory\r\n", ":1\r\n"}, "600ms");
  expect_refused(*start("redis://127.0.0.1:1", "600ms"), "127.0.0.1:1");
}

TEST_F(C34, NobodyThereStartsNothing) {
  expect_refused("redis://127.0.0.1:1", "127.0.0.1:1");
  expect_refused("redis+unix:///nonexistent/redis.sock", "/nonexistent/redis.sock");
  expect_refused("redis://host.invalid:6379", "host.invalid");
}

TEST_F(C34, ASilentServerStartsNothing) {
  HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  RedisServer server;
  server.freeze();
  expect_refused(server.url());
  server.thaw();
}

TEST_F(C34, AnAnswerThatIsSwallowedStartsNothing) {
  HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  RedisServer server;
  FaultProxy proxy{server.port()};
  proxy.set(FaultProxy::Mode::swallow_replies);
  expect_refused("redis://127.0.0.1:" + std::to_string(proxy.port()));
}

TEST_F(C34, WaitingForASilentServerCanBeEnded) {
  HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  RedisServer server;
  server.freeze();
  const auto child = start(server.url(), "forever");
  EXPECT_TRUE(eventually([&] { return child->err().find("no answer") != std::string::npos; }));
  EXPECT_TRUE(child->running());
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(1s), 128 + SIGTERM) << child->err();
  EXPECT_FALSE(std::filesystem::exists(folder() / "wrong"));
  server.thaw();
}

TEST_F(C34, AWrongPasswordStartsNothingAndIsNotShown) {
  HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  RedisServer server{RedisOptions{.password = "right"}};
  expect_refused(server.url(), "denied");
  expect_refused(server.url(), "denied", {{"HOLDFAST_PASSWORD", "wrong-secret"}});
  ProcessOptions options;
  options.args = {HOLDFAST_COMMAND, "run", "--store", server.url(), "n", "--", "true"};
  options.env = {{"HOLDFAST_PASSWORD", "wrong-secret"}};
  Process child{options};
  EXPECT_EQ(child.wait(), 69);
  EXPECT_EQ(child.err().find("wrong-secret"), std::string::npos) << child.err();
}

TEST_F(C34, AMissingRightStartsNothingAndIsNamed) {
  HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  RedisServer server{RedisOptions{
      .user = {"app", "on", ">pw", "~lock:*", "&lock:*", "+@all", "-evalsha", "-eval"}}};
  std::string url = server.url();
  url.insert(url.find("://") + 3, "app@");
  expect_refused(url, "eval", {{"HOLDFAST_PASSWORD", "pw"}});
}

TEST_F(C34, AFileThatCannotBeUsedStartsNothing) {
  expect_refused("sqlite:///proc/locks.db");
  expect_refused("sqlite:///nonexistent/folder/locks.db", "/nonexistent/folder");
  std::ofstream{folder() / "text.db"} << "this is not a database, and it is long enough to be one";
  expect_refused("sqlite://" + (folder() / "text.db").string());
}

}  // namespace

}  // namespace holdfast::test

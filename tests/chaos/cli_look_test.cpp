// The commands that look at a store: ls, show, watch, break, doctor, stores; and secrets.
#include "tests/chaos/command_test.hpp"

#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>
#include <sstream>

namespace holdfast::test {

namespace {

using Json = nlohmann::json;

class LookTest : public CommandTest {
 protected:
  std::string output_of(std::vector<std::string> arguments, int code = 0) const {
    Process child{command(std::move(arguments))};
    EXPECT_EQ(child.wait(), code) << child.err();
    return child.out();
  }
  std::vector<Json> objects_of(std::vector<std::string> arguments) const {
    std::istringstream lines{output_of(std::move(arguments))};
    std::vector<Json> objects;
    for (std::string line; std::getline(lines, line);) {
      objects.push_back(Json::parse(line));
    }
    return objects;
  }
  std::unique_ptr<Process> hold() const {
    auto holder = std::make_unique<Process>(run_script({"--ttl", "3s", "--note", "nightly run"},
                                                       "echo $HOLDFAST_FENCE > fence; sleep 30"));
    EXPECT_TRUE(eventually([&] { return !content("fence").empty(); })) << holder->err();
    return holder;
  }
};

TEST_P(LookTest, NothingToShowIsNoError) {
  EXPECT_EQ(output_of({"ls"}), "");
  EXPECT_EQ(output_of({"ls", "--json"}), "");
  EXPECT_NE(output_of({"show", "n"}).find("free"), std::string::npos);
  EXPECT_EQ(objects_of({"show", "n", "--json"}).at(0)["holders"], Json::array());
}

TEST_P(LookTest, ListsHoldersAndWaiters) {
  const auto holder = hold();
  Process waiter{run({"--wait", "forever"}, {"true"})};
  ASSERT_TRUE(eventually([&] { return waiter.err().find("waiting") != std::string::npos; }));
  const Json seen = objects_of({"ls", "--json"}).at(0);
  EXPECT_EQ(seen["name"], "n");
  EXPECT_EQ(seen["holders"][0]["pid"], holder->pid());
  EXPECT_EQ(seen["holders"][0]["note"], "nightly run");
  EXPECT_EQ(seen["holders"][0]["fence"], std::stoll(content("fence")));
  EXPECT_EQ(seen["waiters"][0]["pid"], waiter.pid());
  EXPECT_EQ(objects_of({"show", "n", "--json"}).at(0)["holders"][0]["owner"],
            seen["holders"][0]["owner"]);
  EXPECT_NE(output_of({"ls"}).find("nightly run"), std::string::npos);
  EXPECT_EQ(objects_of({"ls", "n", "--json"}).size(), 1U);
  EXPECT_EQ(objects_of({"ls", "x", "--json"}).size(), 0U);
}

TEST_P(LookTest, WatchTellsChanges) {
  const auto holder = hold();
  Process watch{command({"watch", "n", "--json"})};
  ASSERT_TRUE(eventually([&] { return !watch.out().empty(); })) << watch.err();
  holder->signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return watch.out().find("\"holders\":[]") != std::string::npos; }))
      << watch.out();
  watch.signal(SIGINT);
  EXPECT_EQ(watch.wait(1s), 128 + SIGINT);
  Process once{command({"watch", "--count", "1"})};
  EXPECT_EQ(once.wait(), 0);
}

TEST_P(LookTest, BreakTellsWhomItHit) {
  EXPECT_NE(output_of({"break", "n"}).find("nobody"), std::string::npos);
  const auto holder = hold();
  const Json done = objects_of({"break", "n", "--json"}).at(0);
  EXPECT_EQ(done["holders"][0]["pid"], holder->pid());
  EXPECT_EQ(holder->wait(), 76) << holder->err();
  EXPECT_TRUE(is_free());
}

TEST_P(LookTest, DoctorLooksAtStoreAndHost) {
  const auto findings = objects_of({"doctor", "--json"});
  EXPECT_GT(findings.size(), 4U);
  for (const Json& finding : findings) {
    EXPECT_NE(finding["level"], "failure") << finding;
  }
  EXPECT_NE(output_of({"doctor"}).find(url()), std::string::npos);
}

TEST_P(LookTest, AnAbsentStoreIs69) {
  for (const char* verb : {"ls", "show", "watch", "break"}) {
    std::vector<std::string> arguments{verb, "--store", "redis://127.0.0.1:1"};
    if (verb == "show"sv || verb == "break"sv) {
      arguments.emplace_back("n");
    }
    output_of(arguments, 69);
  }
  output_of({"doctor", "--store", "redis://127.0.0.1:1"}, 69);
}

TEST_P(LookTest, TheDefaultStoreIsNamedAsWhatItIs) {
  ProcessOptions options = command({"doctor"});
  options.env = {{"XDG_STATE_HOME", file("state")}};
  options.unset = {"HOLDFAST_STORE"};
  Process doctor{options};
  EXPECT_EQ(doctor.wait(), 0) << doctor.err();
  EXPECT_NE(doctor.out().find("this user on this host only"), std::string::npos) << doctor.out();
  options.args = {HOLDFAST_COMMAND, "run", "n", "--", "/bin/sh", "-c", "echo $HOLDFAST_STORE"};
  Process child{options};
  EXPECT_EQ(child.wait(), 0) << child.err();
  EXPECT_EQ(child.out(), "sqlite://" + file("state/holdfast/locks.db") + "\n");
}

INSTANTIATE_TEST_SUITE_P(Stores, LookTest, command_stores, store_name);

class Secrets : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
    server_ = std::make_unique<RedisServer>(RedisOptions{.password = "s3cret/word"});
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }

  // Waits for the job to run, then looks for the password where others can see it.
  void expect_hidden(ProcessOptions options) const {
    options.directory = folder_.path().string();
    options.args.insert(options.args.end(),
                        {"n", "--", "/bin/sh", "-c",
                         "env > env; cat /proc/$PPID/cmdline > watcher; echo $$ > pid; sleep 10"});
    Process child{std::move(options)};
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder_ / "pid"); }))
        << child.err();
    std::string all = child.err() + child.out();
    for (const std::string& name : {std::string{"env"}, std::string{"watcher"}}) {
      all += read(folder_ / name);
    }
    const std::string command_line = read("/proc/" + std::to_string(child.pid()) + "/cmdline");
    EXPECT_NE(command_line.find("run"), std::string::npos);
    all += command_line;
    EXPECT_EQ(all.find("s3cret"), std::string::npos) << all;
    EXPECT_EQ(all.find("HOLDFAST_PASSWORD"), all.find("HOLDFAST_PASSWORD_FILE names")) << all;
    EXPECT_NE(all.find("HOLDFAST_STORE=redis://" + address()), std::string::npos) << all;
    std::filesystem::remove(folder_ / "pid");
    child.signal(SIGTERM);
    EXPECT_EQ(child.wait(), 128 + SIGTERM);
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream stream{path};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }
  const TempDir& folder() const { return folder_; }

 private:
  TempDir folder_{};
  std::unique_ptr<RedisServer> server_{};
};

TEST_F(Secrets, AreNeverShownNorInherited) {
  expect_hidden(
      {.args = {HOLDFAST_COMMAND, "run"},
       .env = {{"HOLDFAST_STORE", "redis://" + address()}, {"HOLDFAST_PASSWORD", "s3cret/word"}}});
  const std::string file = (folder() / "password").string();
  std::ofstream{file} << "s3cret/word\n";
  expect_hidden(
      {.args = {HOLDFAST_COMMAND, "run"},
       .env = {{"HOLDFAST_STORE", "redis://" + address()}, {"HOLDFAST_PASSWORD_FILE", file}}});
  expect_hidden({.args = {HOLDFAST_COMMAND, "run"},
                 .env = {{"HOLDFAST_STORE", "redis://" + address() + "?password_file=" + file}}});
  expect_hidden({.args = {HOLDFAST_COMMAND, "run"},
                 .env = {{"HOLDFAST_STORE", "redis://:s3cret%2Fword@" + address()}}});
}

TEST_F(Secrets, InAnArgumentAreWarnedAboutAndBlanked) {
  const std::string store = "redis://:s3cret%2Fword@" + address();
  expect_hidden({.args = {HOLDFAST_COMMAND, "run", "--store", store}});
  expect_hidden({.args = {HOLDFAST_COMMAND, "run", "--store=" + store}});
  Process child({.args = {HOLDFAST_COMMAND, "run", "--store", store, "n", "--", "true"}});
  EXPECT_EQ(child.wait(), 0);
  EXPECT_NE(child.err().find("HOLDFAST_PASSWORD_FILE"), std::string::npos) << child.err();
  Process quiet({.args = {HOLDFAST_COMMAND, "run", "-q", "--store", store, "n", "--", "true"}});
  EXPECT_EQ(quiet.wait(), 0);
  EXPECT_EQ(quiet.err(), "");
}

TEST_F(Secrets, APasswordFileThatCannotBeReadIsNamed) {
  Process child({.args = {HOLDFAST_COMMAND, "run", "n", "--", "true"},
                 .env = {{"HOLDFAST_STORE", "redis://" + address()},
                         {"HOLDFAST_PASSWORD_FILE", "/nonexistent/password"}}});
  EXPECT_EQ(child.wait(), 64);
  EXPECT_NE(child.err().find("/nonexistent/password"), std::string::npos) << child.err();
}

}  // namespace

}  // namespace holdfast::test

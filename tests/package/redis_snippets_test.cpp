#include "tests/package/snippets.hpp"
#include "tests/support/redis_server.hpp"

#include <memory>

namespace holdfast::test {
namespace {

class RedisSnippets : public Snippets {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
    server = std::make_unique<RedisServer>();
    environment.emplace_back("REDIS_URL", server->url());
    must(blocks("Shell and Redis", "sh")[0]);
  }
  std::unique_ptr<RedisServer> server;
  const std::string look = "redis-cli -u \"$REDIS_URL\" GET balance";
};

TEST_F(RedisSnippets, Shell) {
  const std::string job = file("job.sh", blocks("Shell and Redis", "sh")[1]);
  expect_guarded({"/bin/sh", job}, "HOLDFAST_STALE", look);
}

TEST_F(RedisSnippets, Python) {
  HOLDFAST_NEEDS("python3-redis", shell("/usr/bin/python3 -c 'import redis'").status == 0,
                 "there is no redis module (apt: python3-redis)");
  const std::string job = file("job.py", blocks("Python and Redis", "python")[0]);
  expect_guarded({"/usr/bin/python3", job}, "refused: HOLDFAST_STALE", look);
}

// The two scripts that the page does not show a job for.
TEST_F(RedisSnippets, OwnerAndOnceFromAShell) {
  must("holdfast guard sql redis-owner > owner.lua; holdfast guard sql redis-once > once.lua");
  const std::string cli = "redis-cli -e -u \"$REDIS_URL\" ";
  must(cli + "SET lock:payout me");
  must(cli + "EVAL \"$(cat owner.lua)\" 2 lock:payout k me SET k mine");
  const Result late = shell(cli + "EVAL \"$(cat owner.lua)\" 2 lock:payout k you SET k yours");
  EXPECT_NE(late.status, 0);
  EXPECT_THAT(late.output, HasSubstr("HOLDFAST_OWNER"));
  EXPECT_EQ(server->command({"GET", "k"}), "mine");

  const std::string once = cli +
                           "EVAL \"$(cat once.lua)\" 2 "
                           "\"$(printf 'holdfast:{p}\\037guard.once\\037p')\" n 7 60000 INCRBY n 5";
  EXPECT_EQ(shell(once).output, "1\n5\n");
  EXPECT_EQ(shell(once).output, "0\n5\n7\n");
  EXPECT_EQ(server->command({"GET", "n"}), "5");
}

TEST_F(RedisSnippets, TheScriptRefusesWhatIsNoFenceAndNoMark) {
  const auto says = [&](const std::string& mark, const std::string& arguments) {
    return shell("redis-cli -u \"$REDIS_URL\" EVAL \"$(cat guard.lua)\" 2 \"$(printf '" + mark +
                 "')\" k " + arguments + " SET k v")
        .output;
  };
  const std::string mark = "holdfast:{k}\\037guard.mark\\037k";
  for (const std::string arguments :
       {"n 0 ''", "n -1 ''", "n '' ''", "n 1.5 ''", "n 1e3 ''", "n 007 ''", "n 0x10 ''", "'' 5 ''",
        "n 5 6", "n 5 0", "n 5 x", "n 9223372036854775808 ''", "n 99999999999999999999 ''"}) {
    EXPECT_THAT(says(mark, arguments), HasSubstr("HOLDFAST_FENCE")) << arguments;
  }
  EXPECT_THAT(says("k", "n 5 ''"), HasSubstr("HOLDFAST_MARK"));
  EXPECT_EQ(server->command({"DBSIZE"}), "0");
  EXPECT_EQ(says(mark, "n 9223372036854775807 9223372036854775806"), "OK\n");
  EXPECT_EQ(says(mark, "n 9223372036854775806 ''"), "OK\n");
  EXPECT_THAT(says(mark, "n 9223372036854775805 ''"), HasSubstr("HOLDFAST_STALE"));
}

}  // namespace
}  // namespace holdfast::test

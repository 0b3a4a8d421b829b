// What is particular to the guards on Redis: keys, slots, rights, memory, and errors.
#include "tests/conformance/redis_fixture.hpp"
#include "tests/conformance/redis_user.hpp"

#include <holdfast/guard/redis.hpp>

#include <gmock/gmock.h>

namespace holdfast::redis_tests {
namespace {

using testing::HasSubstr;

const std::string us = "\x1f";

Stamp stamp(std::int64_t fence) { return {.name = "payout", .fence = Fence{fence}}; }

class RedisGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
    server = std::make_unique<RedisServer>(options());
    connection = std::make_unique<Connection>(server->port());
  }
  virtual RedisOptions options() const { return {}; }

  std::error_code set(std::int64_t fence, const std::string& key, const std::string& value = "v",
                      Duration ttl = {}) {
    std::error_code ec = errc::busy;
    RedisGuard{*connection}.guarded_set(stamp(fence), key, value, ttl, ec);
    return ec;
  }
  std::string get(const std::string& key) { return connection->text({"GET", key}); }
  template <class Call>
  static std::string refusal(Call call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error_word(static_cast<errc>(error.code().value()))) + ": " +
             error.detail();
    }
    return "no error";
  }

  std::unique_ptr<RedisServer> server;
  std::unique_ptr<Connection> connection;
};

TEST_F(RedisGuardTest, SetsWhatIsAdmitted) {
  EXPECT_FALSE(set(10, "balance", "100"));
  EXPECT_EQ(get("balance"), "100");
  EXPECT_EQ(set(9, "balance", "90"), errc::stale_fence);
  EXPECT_EQ(get("balance"), "100");
  const std::string bytes{"a\0\r\n", 4};
  EXPECT_FALSE(set(10, "balance", bytes, 10s));
  EXPECT_EQ(get("balance"), bytes);
  EXPECT_GT(std::stoi(connection->text({"PTTL", "balance"})), 5'000);
  EXPECT_FALSE(set(10, "balance", ""));
  EXPECT_EQ(get("balance"), "");
  EXPECT_EQ(connection->text({"PTTL", "balance"}), "-1");
  EXPECT_EQ(set(10, "balance", "x", 999us), errc::invalid_options);
  EXPECT_EQ(set(10, "balance", "x", -1s), errc::invalid_options);
}

TEST_F(RedisGuardTest, SaysWhoIsInTheWay) {
  RedisGuard guard{*connection};
  guard.guarded_set(stamp(10), "balance", "100");
  EXPECT_EQ(refusal([&] { guard.guarded_set(stamp(9), "balance", "90"); }),
            "stale_fence: resource \"balance\" has seen fence 10, this one is 9");
  EXPECT_EQ(refusal([&] { guard.admit("balance", "other", Fence{11}); }),
            "invalid_options: resource \"balance\" is guarded by the lock \"payout\"");
  guard.admit("a\nb", "payout", Fence{2});
  EXPECT_EQ(refusal([&] { guard.admit("a\nb", "payout", Fence{1}); }),
            "stale_fence: resource \"a?b\" has seen fence 2, this one is 1");
}

TEST_F(RedisGuardTest, SeveralKeysAreOneResource) {
  RedisGuard guard{*connection};
  const std::vector<RedisPair> pairs{{"a", "1"}, {"b", "2"}, {"c", "3"}};
  guard.guarded_set(stamp(10), "accounts", pairs);
  EXPECT_EQ(get("a") + get("b") + get("c"), "123");
  std::error_code ec;
  const std::vector<RedisPair> late{{"a", "7"}, {"d", "8"}};
  guard.guarded_set(stamp(9), "accounts", late, {}, ec);
  EXPECT_EQ(ec, errc::stale_fence);
  EXPECT_EQ(get("a") + get("d"), "1(nil)");
  const std::string mark = redis_mark_key("accounts");
  const std::vector<RedisPair> thief{{"x", "7"}, {mark, "8"}};
  guard.guarded_set(stamp(11), "accounts", thief, {}, ec);
  EXPECT_EQ(ec, errc::invalid_options) << "marks are nobody's to write";
  EXPECT_EQ(get("x"), "(nil)");
}

TEST_F(RedisGuardTest, AScriptSeesItsOwnKeysAndArguments) {
  const RedisScript script{.text =
                               "redis.call('SET', KEYS[1], ARGV[1])\n"
                               "return {#KEYS, #ARGV, KEYS[1], ARGV[2]}",
                           .keys = {"k"},
                           .args = {"v", "w"}};
  const RedisReply reply = RedisGuard{*connection}.guarded_eval(stamp(3), "r", script);
  ASSERT_EQ(reply->elements, 4U);
  EXPECT_EQ(reply->element[0]->integer, 1);
  EXPECT_EQ(reply->element[1]->integer, 2);
  EXPECT_STREQ(reply->element[2]->str, "k");
  EXPECT_STREQ(reply->element[3]->str, "w");
  EXPECT_EQ(get("k"), "v");
  const RedisReply nothing =
      RedisGuard{*connection}.guarded_eval(stamp(3), "r", {.text = "-- nothing to do"});
  EXPECT_EQ(nothing->type, REDIS_REPLY_NIL);
}

TEST_F(RedisGuardTest, AFailureOfTheScriptIsNoStaleFence) {
  RedisGuard guard{*connection};
  EXPECT_FALSE(set(1, "text"));
  EXPECT_THAT(refusal([&] {
                guard.guarded_eval(stamp(2), "text",
                                   {.text = "redis.call('LPUSH', KEYS[1], 1)", .keys = {"text"}});
              }),
              HasSubstr("invalid_options: WRONGTYPE"));
  EXPECT_THAT(refusal([&] { guard.guarded_eval(stamp(2), "text", {.text = "no Lua"}); }),
              HasSubstr("invalid_options: ERR Error compiling script"));
  EXPECT_THAT(refusal([&] {
                guard.guarded_eval(stamp(2), "text",
                                   {.text = "return redis.error_reply('MINE no money')"});
              }),
              HasSubstr("MINE no money"));
}

TEST_F(RedisGuardTest, TheMarkIsBesideTheData) {
  EXPECT_FALSE(set(7, "balance"));
  EXPECT_FALSE(set(8, "cart:{user:9}:total"));
  const std::string mark = "holdfast:{balance}" + us + "guard.mark" + us + "balance";
  EXPECT_EQ(redis_mark_key("balance"), mark);
  EXPECT_EQ(connection->text({"HGET", mark, "mark"}), "7");
  EXPECT_EQ(connection->text({"HGET", mark, "name"}), "payout");
  EXPECT_EQ(connection->text({"TTL", mark}), "-1") << "it never expires";
  EXPECT_EQ(redis_mark_key("cart:{user:9}:total"),
            "holdfast:{user:9}" + us + "guard.mark" + us + "cart:{user:9}:total");
  std::error_code ec;
  for (const std::string& odd : {std::string{}, std::string{"a}b"}, std::string{"{}a"}, mark}) {
    redis_mark_key(odd, ec);
    EXPECT_EQ(ec, errc::invalid_options) << odd;
    EXPECT_EQ(set(9, odd), errc::invalid_options) << odd;
  }
  EXPECT_THROW(redis_once_key("a}b"), Error);
}

TEST_F(RedisGuardTest, ADamagedMarkAdmitsNobody) {
  connection->ask({"HSET", redis_mark_key("r"), "name", "payout", "mark", "1e3"});
  EXPECT_EQ(set(5, "r"), errc::invalid_options);
  connection->ask({"DEL", redis_mark_key("r")});
  connection->ask({"SET", redis_mark_key("r"), "5"});
  EXPECT_EQ(set(5, "r"), errc::invalid_options);
  EXPECT_EQ(get("r"), "(nil)");
}

TEST_F(RedisGuardTest, InsideAMultiNobodyWouldSeeTheAnswer) {
  EXPECT_FALSE(set(2, "k"));
  connection->ask({"MULTI"});
  EXPECT_EQ(set(1, "k"), errc::invalid_options);
  connection->ask({"DISCARD"});
}

TEST_F(RedisGuardTest, ALostAnswerIsNotARefusal) {
  redisSetTimeout(*connection, {0, 100'000});
  server->freeze();
  EXPECT_EQ(set(2, "k"), errc::outcome_unknown);
  EXPECT_EQ(set(2, "k"), errc::store_unavailable) << "the connection is of no use any more";
  server->thaw();
  const Connection again{server->port()};
  RedisGuard{again}.guarded_set(stamp(2), "k", "v");  // a repeat passes
  EXPECT_EQ(again.text({"GET", "k"}), "v");
}

TEST_F(RedisGuardTest, WithFullMemoryNothingIsHalfWritten) {
  connection->ask({"CONFIG", "SET", "maxmemory", "1"});
  RedisGuard guard{*connection};
  const std::vector<RedisPair> pairs{{"a", "1"}, {"b", "2"}};
  std::error_code ec;
  guard.guarded_set(stamp(1), "r", pairs, {}, ec);
  EXPECT_EQ(ec, errc::store_unavailable);
  RedisOnce{*connection}.eval("k", {.text = "return redis.call('INCR', KEYS[1])", .keys = {"n"}},
                              {}, ec);
  EXPECT_EQ(ec, errc::store_unavailable);
  EXPECT_EQ(connection->text({"DBSIZE"}), "0");
}

class RedisGuardRights : public RedisGuardTest {
  RedisOptions options() const override {
    return {.password = "secret",
            .user = {"app", "on", ">pw", "~app:*", "~holdfast:*", "+eval", "+set", "+get", "+hset",
                     "+hmget"}};
  }
};

TEST_F(RedisGuardRights, AMissingRightIsNamed) {
  EXPECT_EQ(set(1, "app:k"), errc::access_denied);
  connection->ask({"AUTH", "app", "pw"});
  EXPECT_FALSE(set(1, "app:k")) << "these rights are enough";
  EXPECT_EQ(set(1, "other:k"), errc::access_denied);
  EXPECT_EQ(get("app:k"), "v");
}

class RedisGuardCluster : public RedisGuardTest {
  RedisOptions options() const override { return {.more = {"--cluster-enabled", "yes"}}; }
  void SetUp() override {
    RedisGuardTest::SetUp();
    if (IsSkipped()) return;
    server->command({"CLUSTER", "ADDSLOTSRANGE", "0", "8191"});
    server->command({"CLUSTER", "ADDSLOTSRANGE", "8192", "16383"});
    for (int turn = 0; turn < 5000 && info().find("cluster_state:ok") == std::string::npos;
         ++turn) {
      usleep(1000);
    }
  }

 protected:
  std::string info() { return server->command({"CLUSTER", "INFO"}); }
};

TEST_F(RedisGuardCluster, MarkAndDataShareASlot) {
  for (const std::string key :
       {"balance", "cart:{user:9}", "{user:9}", "a{b", "ä", "{a}{b}", "{x"}) {
    EXPECT_FALSE(set(2, key)) << key;
    EXPECT_EQ(set(1, key), errc::stale_fence) << key;
  }
  RedisGuard guard{*connection};
  const std::vector<RedisPair> together{{"{u}a", "1"}, {"{u}b", "2"}};
  guard.guarded_set(stamp(2), "{u}", together);
  const std::vector<RedisPair> apart{{"a", "1"}, {"b", "2"}};
  EXPECT_THAT(refusal([&] { guard.guarded_set(stamp(2), "{u}", apart); }),
              HasSubstr("need one {tag} in a Cluster"));
  RedisOnce once{*connection};
  EXPECT_TRUE(
      once.eval("once {u}", {.text = "return redis.call('INCR', KEYS[1])", .keys = {"{u}n"}})
          .first);
}

TEST_F(RedisGuardCluster, AnotherNodesSlotIsToldAsSuch) {
  server->command({"CLUSTER", "DELSLOTSRANGE", "0", "16383"});
  EXPECT_EQ(set(1, "balance"), errc::store_unavailable);
}

}  // namespace
}  // namespace holdfast::redis_tests

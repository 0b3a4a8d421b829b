// The once guard and the owner guard on Redis.
#include "tests/conformance/redis_fixture.hpp"
#include "tests/conformance/redis_user.hpp"

#include <holdfast/client.hpp>
#include <holdfast/guard/redis.hpp>
#include <holdfast/mutex.hpp>

#include <gmock/gmock.h>

#include <thread>

namespace holdfast::redis_tests {
namespace {

using testing::HasSubstr;

class RedisOnceTest : public OnRedis {
 protected:
  void SetUp() override {
    OnRedis::SetUp();
    if (!IsSkipped()) connection = std::make_unique<Connection>(server().port());
  }
  OnceAnswer once(const std::string& key, const std::string& script, OnceOptions options = {}) {
    error = errc::busy;
    return RedisOnce{*connection}.eval(key, {.text = script, .keys = {"n"}, .args = {"5"}}, options,
                                       error);
  }
  std::string get(const std::string& key) { return connection->text({"GET", key}); }

  static constexpr const char* add = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
  std::unique_ptr<Connection> connection;
  std::error_code error{};
};

using RedisOwnerTest = RedisOnceTest;

TEST_F(RedisOnceTest, ARepeatGetsTheFirstResult) {
  const OnceAnswer first = once("payment 1", add, {.fence = Fence{7}});
  EXPECT_TRUE(first.first);
  EXPECT_EQ(first.result, "5");
  const OnceAnswer repeat = once("payment 1", add, {.fence = Fence{9}});
  EXPECT_FALSE(repeat.first);
  EXPECT_EQ(repeat.result, "5");
  EXPECT_EQ(repeat.fence, Fence{7});
  EXPECT_EQ(get("n"), "5");
  EXPECT_EQ(once("payment 2", add).result, "10") << "keys are independent";
}

TEST_F(RedisOnceTest, KeepsTextStatusAndNumbers) {
  int key = 0;
  const auto result = [&](const std::string& script) {
    const std::string name = std::to_string(++key);
    const OnceAnswer first = once(name, script);
    EXPECT_TRUE(first.first && !error) << script << error.message();
    const OnceAnswer repeat = once(name, script);
    EXPECT_FALSE(repeat.first) << script;
    EXPECT_EQ(first.result, repeat.result) << script;
    return repeat.result.value_or("(none)");
  };
  EXPECT_EQ(result("return 'a\\0b'"), std::string("a\0b", 3));
  EXPECT_EQ(result("return redis.call('SET', KEYS[1], '1')"), "OK");
  EXPECT_EQ(result("return -3.7"), "-3");
  EXPECT_EQ(result("return 9007199254740991"), "9007199254740991");
  EXPECT_EQ(result("return ''"), "");
  EXPECT_EQ(result("return {1, 2}"), "(none)");
  EXPECT_EQ(result("return false"), "(none)");
  EXPECT_EQ(result("redis.call('INCR', KEYS[1])"), "(none)");
}

TEST_F(RedisOnceTest, WhatFailedCanBeTriedAgain) {
  once("k", "return redis.error_reply('MINE no money')");
  EXPECT_EQ(error, errc::invalid_options);
  once("k", "redis.call('LPUSH', KEYS[1], 1) redis.call('INCR', KEYS[1])");
  EXPECT_EQ(error, errc::invalid_options);
  connection->ask({"DEL", "n"});
  EXPECT_TRUE(once("k", add).first);
}

TEST_F(RedisOnceTest, RemembersForItsTime) {
  EXPECT_TRUE(once("k", add, {.remember = 1ms}).first);
  bool again = false;
  for (int turn = 0; turn < 1000 && !again; ++turn) {
    std::this_thread::sleep_for(1ms);
    again = once("k", add).first;
  }
  EXPECT_TRUE(again);
  EXPECT_GT(std::stoll(connection->text({"PTTL", redis_once_key("k")})), 6 * 86'400'000LL);
}

TEST_F(RedisOnceTest, SaysWhatIsWrong) {
  for (const OnceOptions& options :
       {OnceOptions{.fence = Fence{-1}}, OnceOptions{.remember = 0s},
        OnceOptions{.remember = Duration::max()}, OnceOptions{.remember = -1s}}) {
    once("k", add, options);
    EXPECT_EQ(error, errc::invalid_options);
  }
  once("", add);
  EXPECT_EQ(error, errc::invalid_options);
  EXPECT_EQ(get("n"), "(nil)");
  EXPECT_THROW(RedisOnce{*connection}.eval("k", {.text = "no Lua"}), Error);
}

// ---- the owner guard ----------------------------------------------------------------------------

TEST_F(RedisOwnerTest, WritesOnlyWhileTheLockIsMine) {
  auto client = Client{server().url()};
  Mutex mutex{client, "{cart:7}"};
  Lease lease = mutex.acquire();
  RedisOwnerGuard guard{*connection, "lock:{cart:7}", lease.owner()};
  guard.owned_set("cart:7", "paid", 10s);
  EXPECT_EQ(get("cart:7"), "paid");
  const RedisReply reply =
      guard.owned_eval({.text = "return KEYS[1] .. ARGV[1]", .keys = {"k"}, .args = {"v"}});
  EXPECT_STREQ(reply->str, "kv");

  lease.release();
  std::error_code ec;
  guard.owned_set("cart:7", "late", {}, ec);
  EXPECT_EQ(ec, errc::not_owner) << "free";
  const Lease other = mutex.acquire();
  guard.owned_set("cart:7", "late", {}, ec);
  EXPECT_EQ(ec, errc::not_owner) << "another's";
  EXPECT_EQ(ec, failure::ownership_lost);
  EXPECT_EQ(get("cart:7"), "paid");
  RedisOwnerGuard{*connection, "lock:{cart:7}", other.owner()}.owned_set("cart:7", "again");
  EXPECT_EQ(get("cart:7"), "again");
  EXPECT_THROW(guard.owned_eval({.text = "return 1"}), Error);
}

TEST_F(RedisOwnerTest, SaysWhatIsWrong) {
  std::error_code ec;
  RedisOwnerGuard{*connection, "", OwnerId{}}.owned_set("k", "v", {}, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  RedisOwnerGuard guard{*connection, "lock:a", OwnerId{}};
  guard.owned_set("k", "v", 1us, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  connection->ask({"LPUSH", "lock:a", "x"});
  guard.owned_set("k", "v", {}, ec);
  EXPECT_EQ(ec, errc::invalid_options) << "no lock of ours";
  EXPECT_EQ(get("k"), "(nil)");
}

}  // namespace
}  // namespace holdfast::redis_tests

// The pure parts around the connection: URLs, requests, errors, wake-ups, what INFO means.
#include <holdfast/error.hpp>

#include "base/store_url.hpp"
#include "store/redis/errors.hpp"
#include "store/redis/requests.hpp"
#include "store/redis/retry_delay.hpp"
#include "store/redis/server_report.hpp"
#include "store/redis/settings.hpp"
#include "store/redis/wake_listener.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

const std::string owner_a(32, 'a');

// ---- settings ----------------------------------------------------------------------------------

Settings settings_of(const std::string& url) { return {StoreUrl::parse(url), ""}; }

std::string refusal(const std::string& url) {
  try {
    settings_of(url);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::invalid_url);
    return error.detail();
  }
}

TEST(RedisSettings, Defaults) {
  const Settings settings = settings_of("redis://db1");
  EXPECT_EQ(settings.endpoint.host, "db1");
  EXPECT_EQ(settings.endpoint.port, 6379);
  EXPECT_EQ(settings.endpoint.tls, nullptr);
  EXPECT_EQ(settings.keys.prefix(), "lock:");
  EXPECT_EQ(settings.op_timeout, 2s);
  EXPECT_EQ(settings.commands.database, 0);
  EXPECT_TRUE(settings.wakes.subscriber);
}

TEST(RedisSettings, EveryPart) {
  const Settings settings = settings_of(
      "rediss://app:pw@[::1]:7000/3?prefix=x:&op_timeout=500ms&tls_ca=/ca.crt&tls_name=redis.test");
  EXPECT_EQ(settings.endpoint.host, "::1");
  EXPECT_EQ(settings.endpoint.port, 7000);
  ASSERT_NE(settings.endpoint.tls, nullptr);
  EXPECT_EQ(settings.endpoint.tls->options().name, "redis.test");
  EXPECT_EQ(settings.commands.place.user, "app");
  EXPECT_EQ(settings.commands.password, "pw");
  EXPECT_EQ(settings.commands.database, 3);
  EXPECT_EQ(settings.op_timeout, 500ms);
  EXPECT_EQ(settings_of("redis+unix:///run/redis.sock?db=2").endpoint.unix_path, "/run/redis.sock");
  EXPECT_EQ(settings_of("redis+unix:///run/redis.sock?db=2").commands.database, 2);
  EXPECT_EQ((Settings{StoreUrl::parse("redis://:old@h"), "new"}.commands.password), "new");
}

TEST(RedisSettings, EveryClientHasAChannelOfItsOwn) {
  EXPECT_NE(settings_of("redis://h").client_id, settings_of("redis://h").client_id);
}

TEST(RedisSettings, RefusalsNameTheOffendingPart) {
  EXPECT_NE(refusal("redis://a,b").find("one server"), std::string::npos);
  EXPECT_NE(refusal("redis://h/abc").find("abc"), std::string::npos);
  EXPECT_NE(refusal("redis://h/-1").find("-1"), std::string::npos);
  EXPECT_NE(refusal("redis://h?wire=redisson").find("wire"), std::string::npos);
  EXPECT_NE(refusal("redis://h?tls_ca=x").find("tls_ca"), std::string::npos);
  EXPECT_NE(refusal("redis://h?db=1").find("db"), std::string::npos);
  EXPECT_NE(refusal("redis://h?op_timeout=1").find("op_timeout"), std::string::npos);
  EXPECT_NE(refusal("redis://h?op_timeout=2h").find("2h"), std::string::npos);
  EXPECT_NE(refusal("redis://h?prefix=%7B").find("prefix"), std::string::npos);
  EXPECT_NE(refusal("redis+unix://").find("socket"), std::string::npos);
}

// ---- requests ----------------------------------------------------------------------------------

Reply reply_of(const std::string& bytes) {
  RespReader reader;
  reader.feed(bytes);
  auto reply = reader.next();
  EXPECT_TRUE(reply) << bytes;
  return reply ? *std::move(reply) : Reply{};
}

std::vector<std::string> words_of(const Request& request) {
  std::string bytes;
  request.write(bytes);
  const Reply command = reply_of(bytes);  // a command is an array of strings, as a reply may be
  std::vector<std::string> words;
  for (std::size_t i = 0; i < command.size(); ++i) {
    words.emplace_back(command.at(i).text());
  }
  return words;
}

TEST(RedisRequests, TimesRoundUpToMilliseconds) {
  const Settings settings = settings_of("redis://h");
  const Claim claim{.name = "a", .ttl = 1500ms + 1ns, .liveness = 999us, .lock_delay = 1ns};
  const auto words = words_of(acquire_request(claim, true, settings));
  ASSERT_EQ(words.size(), 3U + 9U + 12U);
  const std::vector<std::string> arguments(words.begin() + 13, words.begin() + 20);
  EXPECT_EQ(arguments,
            (std::vector<std::string>{"1", "1", settings.channel_base, "1501", "0", "0", "1"}));
  EXPECT_EQ(words_of(withdraw_request(claim, {.tombstone = true}, settings)).at(14), "1501");
  EXPECT_EQ(words_of(withdraw_request(claim, {}, settings)).at(14), "0");
  Claim run = claim;
  run.run_id = "monday";
  const auto done = words_of(withdraw_request(run, {.remember = 1ns}, settings));
  EXPECT_EQ(done.at(2), "10") << "the mark is one of the keys";
  EXPECT_EQ(done.back(), "1");
}

TEST(RedisRequests, KeysAreDeclaredAsFarAsTheyAreNeeded) {
  const Settings settings = settings_of("redis://h");
  Claim claim{.name = "a", .ttl = 1s};
  EXPECT_EQ(words_of(acquire_request(claim, true, settings)).at(2), "9");
  claim.run_id = "monday";
  EXPECT_EQ(words_of(acquire_request(claim, true, settings)).at(2), "10");
  Claim reader{.name = "b", .mode = Mode::shared, .ttl = 1s};
  Claim permit{.name = "c", .limit = 3, .ttl = 1s};
  EXPECT_EQ(words_of(renew_request(std::vector{claim, reader, permit}, settings)).at(2), "18");
  const auto words = words_of(acquire_request(permit, true, settings));
  const std::vector<std::string> last(words.end() - 5, words.end());
  EXPECT_EQ(last, (std::vector<std::string>{"shared", "1", "3", "", ""}));
}

TEST(RedisRequests, NoFieldCanForgeTheSeparator) {
  Claim claim{.name = "a", .ttl = 1s};
  claim.who = {"ho\x1fst", 1, "no\x1fte"};
  const auto words = words_of(acquire_request(claim, false, settings_of("redis://h")));
  EXPECT_EQ(words.at(words.size() - 2), "ho st");
  EXPECT_EQ(words.back(), "no te");
}

// ---- errors ------------------------------------------------------------------------------------

const Place place{.server = "db1:6379", .user = "app", .prefix = "lock:"};

TEST(RedisErrors, CodesSayWhetherTryingAgainHelps) {
  const auto code = [](std::string_view error) { return failure_of(error, place).code; };
  EXPECT_EQ(code("LOADING Redis is loading the dataset in memory"), errc::store_unavailable);
  EXPECT_EQ(code("READONLY You can't write against a read only replica."), errc::store_unavailable);
  EXPECT_EQ(code("OOM command not allowed when used memory > 'maxmemory'."),
            errc::store_unavailable);
  EXPECT_EQ(code("BUSY Redis is busy running a script."), errc::store_unavailable);
  EXPECT_EQ(code("MASTERDOWN Link with MASTER is down"), errc::store_unavailable);
  EXPECT_EQ(code("CLUSTERDOWN Hash slot not served"), errc::store_unavailable);
  EXPECT_EQ(code("MOVED 3999 127.0.0.1:6381"), errc::unsupported);
  EXPECT_EQ(code("WRONGTYPE Operation against a key"), errc::unsupported);
  EXPECT_EQ(code("NOAUTH Authentication required."), errc::access_denied);
  EXPECT_EQ(code("WRONGPASS invalid username-password pair"), errc::access_denied);
  EXPECT_EQ(code("ERR user_script:9: HOLDFAST_FENCE the last fence is not a number"),
            errc::storage_unsafe);
  EXPECT_EQ(
      code("ERR Error running script (call to f_1): @user_script:2: -OOM command not allowed "),
      errc::store_unavailable);
}

TEST(RedisErrors, OnlyAnErrorThatWeDoNotKnowMayHaveHadEffect) {
  EXPECT_FALSE(failure_of("OOM x", place).may_have_had_effect);
  EXPECT_FALSE(failure_of("NOPERM x", place).may_have_had_effect);
  EXPECT_TRUE(failure_of("ERR something new", place).may_have_had_effect);
}

TEST(RedisErrors, TheMissingRightIsNamed) {
  const auto detail = [](std::string_view error) { return failure_of(error, place).detail; };
  EXPECT_NE(
      detail("NOPERM this user has no permissions to run the 'evalsha' command").find("+evalsha"),
      std::string::npos);
  EXPECT_NE(
      detail("NOPERM this user has no permissions to access one of the keys used as arguments")
          .find("~lock:*"),
      std::string::npos);
  EXPECT_NE(detail("ERR The user executing the script can't access at least one of the keys "
                   "mentioned in the command arguments")
                .find("~lock:*"),
            std::string::npos);
  EXPECT_NE(detail("NOPERM No permissions to access a channel").find("&lock:*"), std::string::npos);
  EXPECT_NE(missing_rights({"ZADD", "ZREM"}, place).detail.find("ZADD, ZREM"), std::string::npos);
  EXPECT_NE(missing_rights({"&PUBLISH"}, place).detail.find("&lock:*"), std::string::npos);
}

// ---- wake-ups, INFO, retries -------------------------------------------------------------------

TEST(RedisWakeUps, AreParsedOrIgnored) {
  const auto handed = parse_wake_up("granted " + owner_a + " 123");
  ASSERT_TRUE(handed && std::holds_alternative<HandedOff>(*handed));
  EXPECT_EQ(to_int(std::get<HandedOff>(*handed).fence), 123);
  EXPECT_EQ(std::get<HandedOff>(*handed).floor, std::get<HandedOff>(*handed).fence);
  const auto beside = parse_wake_up("granted " + owner_a + " 123 45");
  ASSERT_TRUE(beside && std::holds_alternative<HandedOff>(*beside));
  EXPECT_EQ(std::get<HandedOff>(*beside).fence, Fence{123});
  EXPECT_EQ(std::get<HandedOff>(*beside).floor, Fence{45});
  const auto look = parse_wake_up("look " + owner_a);
  ASSERT_TRUE(look && std::holds_alternative<MaybeFree>(*look));
  const auto broken = parse_wake_up("broken " + owner_a);
  ASSERT_TRUE(broken && std::holds_alternative<MarkedBroken>(*broken));
  for (const std::string& payload :
       {std::string{}, std::string{"0"}, std::string{"granted"}, "granted " + owner_a,
        "granted " + owner_a + " 0", "granted " + owner_a + " 5 6", "granted " + owner_a + " 5 4 3",
        "granted " + owner_a + " 5 ", "granted " + owner_a + " 5 0", "look " + owner_a + " 1",
        "granted " + owner_a + " -3", "granted " + owner_a + " 1x",
        "granted " + owner_a.substr(1) + " 1", "broken " + owner_a + " 1", "other " + owner_a}) {
    EXPECT_FALSE(parse_wake_up(payload)) << payload;
  }
}

bool has(const std::vector<Finding>& findings, Finding::Level level) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.level == level; });
}

TEST(RedisReport, JudgesWhatInfoSays) {
  const std::string good =
      "# Server\r\nredis_version:7.0.15\r\nrole:master\r\nmaxmemory:0\r\n"
      "maxmemory_policy:noeviction\r\naof_enabled:1\r\nconnected_slaves:0\r\n";
  EXPECT_EQ(info_field(good, "redis_version"), "7.0.15");
  EXPECT_EQ(info_field(good, "version"), "");
  EXPECT_FALSE(has(judge_server(good), Finding::Level::failure));
  const auto failing = [](const std::string& info) {
    return has(judge_server(info), Finding::Level::failure);
  };
  EXPECT_TRUE(failing("redis_version:4.0.1\r\n"));
  EXPECT_TRUE(failing("redis_version:7.0.15\r\nrole:slave\r\n"));
  EXPECT_TRUE(failing("redis_version:7.0.15\r\ncluster_enabled:1\r\n"));
  EXPECT_TRUE(
      failing("redis_version:7.0.15\r\nmaxmemory:1000\r\nmaxmemory_policy:volatile-lru\r\n"));
  EXPECT_TRUE(has(judge_server(good + "connected_slaves:1\r\n"), Finding::Level::note));
}

TEST(RedisRetryDelay, DoublesToOneSecondAndStartsAnew) {
  RetryDelay retry;
  Instant now{100s};
  EXPECT_LE(retry.next(), now);
  retry.tried(now);
  EXPECT_EQ(retry.next(), now + 50ms);
  for (int i = 0; i < 10; ++i) {
    retry.failed();
  }
  retry.tried(now);
  EXPECT_EQ(retry.next(), now + 1s);
  retry.succeeded();
  retry.tried(now);
  EXPECT_EQ(retry.next(), now + 50ms);
}

}  // namespace
}  // namespace holdfast::redis

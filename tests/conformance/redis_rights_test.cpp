// Few rights (ACL): the published list is enough, and with less the first operation says what is
// missing before anything is granted.
#include "test_paths.hpp"
#include "tests/conformance/redis_fixture.hpp"

#include <fstream>
#include <sstream>

namespace holdfast::redis_tests {
namespace {

// The list that docs and README publish for an ACL user of the prefix "lock:".
const std::vector<std::string> minimal{
    "~lock:*", "&lock:*",    "+eval",          "+evalsha",   "+get",     "+mget",     "+set",
    "+del",    "+exists",    "+pttl",          "+pexpireat", "+hset",    "+hget",     "+hmget",
    "+hdel",   "+hlen",      "+hvals",         "+zadd",      "+zrem",    "+zcard",    "+zrange",
    "+zscore", "+zrevrange", "+zrangebyscore", "+time",      "+publish", "+subscribe"};

class C23 : public testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
    server_ = std::make_unique<RedisServer>();
  }
  RedisServer& server() { return *server_; }

  // A store of a new user with exactly these rights.
  std::unique_ptr<Asker> as_user(const std::vector<std::string>& rights) {
    const std::string user = "u" + std::to_string(++users_);
    std::vector<std::string> words{"ACL", "SETUSER", user, "on", ">pw", "resetchannels"};
    words.insert(words.end(), rights.begin(), rights.end());
    EXPECT_EQ(server().command(words), "OK");
    std::string url = server().url();
    url.insert(url.find("//") + 2, user + "@");
    return std::make_unique<Asker>(url, "pw");
  }
  std::vector<std::string> minimal_without(const std::string& right) {
    std::vector<std::string> rights = minimal;
    std::erase(rights, right);
    EXPECT_EQ(rights.size() + 1, minimal.size()) << right;
    return rights;
  }
  void expect_denied(Asker& asker, const std::string& word) {
    const AcquireReply reply = asker.acquire(claim("a", 1));
    const auto* failed = std::get_if<Failed>(&reply);
    ASSERT_NE(failed, nullptr) << word << ": " << Asker::why(reply);
    EXPECT_EQ(failed->code, errc::access_denied) << failed->detail;
    std::string detail = failed->detail;
    std::transform(detail.begin(), detail.end(), detail.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_NE(detail.find(word), std::string::npos) << failed->detail;
    EXPECT_EQ(server().command({"KEYS", "*"}), "") << word;
  }

 private:
  std::unique_ptr<RedisServer> server_{};
  int users_ = 0;
};

void use_every_verb(Asker& store) {
  store.listen();
  EXPECT_TRUE(std::holds_alternative<Granted>(store.queue(claim("a", 1))));
  EXPECT_TRUE(std::holds_alternative<Renewed>(store.renew(claim("a", 1))));
  EXPECT_TRUE(std::holds_alternative<Queued>(store.queue(claim("a", 2))));
  EXPECT_TRUE(std::holds_alternative<Released>(
      store.withdraw(claim("a", 1), {.keep_min_hold = true, .tombstone = true})));
  ASSERT_TRUE(store.run_until([&] { return !store.events.empty(); }));
  EXPECT_NE(store.last_event<HandedOff>(), nullptr);
  EXPECT_EQ(store.inspect("a").holders.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<BreakDone>(store.break_name("a", BreakMode::ask_holder)));
  EXPECT_TRUE(std::holds_alternative<Released>(store.withdraw(claim("a", 2))));
}

// The same for those who stand side by side, on one name.
void use_every_verb_beside_others(Asker& store) {
  Claim run = claim("a", 11);
  run.run_id = "monday";
  expect<Granted>(store.queue(run));
  run.mode = Mode::shared;
  expect<Amended>(store.amend(run));
  expect<Granted>(store.queue(reader("a", 12)));
  EXPECT_EQ(store.renew({run, reader("a", 12)}).size(), 2U);
  expect<Queued>(store.queue(claim("a", 13)));
  EXPECT_EQ(store.inspect("a").holders.size(), 2U);
  expect<BreakDone>(store.break_name("a", BreakMode::ask_holder));
  expect<Released>(store.withdraw(run, {.keep_min_hold = true, .remember = 10s}));
  expect<Released>(store.withdraw(reader("a", 12)));
  expect<Released>(store.withdraw(claim("a", 13)));
  expect<AlreadyDone>(store.acquire(run));
  expect<AllGranted>(store.acquire_all({permit("a", 14, 3, 2)}));
  expect<Granted>(store.acquire(permit("a", 15, 3)));
  expect<Released>(store.withdraw(permit("a", 14, 3)));
  expect<Released>(store.withdraw(permit("a", 15, 3)));
}

TEST_F(C23, ThePublishedListIsEnough) {
  const auto store = as_user(minimal);
  use_every_verb(*store);
  use_every_verb_beside_others(*store);
}

TEST_F(C23, EverythingButDangerousIsEnough) {
  const auto store = as_user({"~lock:*", "&lock:*", "+@all", "-@dangerous"});
  use_every_verb(*store);
  EXPECT_EQ(store->list("").size(), 0U);
}

TEST_F(C23, WithoutChannelsTheFirstOperationSaysSo) {
  const auto store = as_user({"~lock:*", "+@all", "-@dangerous"});
  expect_denied(*store, "&lock:*");
}

TEST_F(C23, EachMissingCommandIsNamedBeforeAnythingIsGranted) {
  for (const std::string& right : minimal) {
    if (!right.starts_with('+')) {
      continue;
    }
    const auto store = as_user(minimal_without(right));
    expect_denied(*store, right.substr(1));
  }
}

TEST_F(C23, MissingKeyRightsAreNamed) {
  expect_denied(*as_user(minimal_without("~lock:*")), "~lock:*");
  auto rights = minimal_without("~lock:*");
  rights.push_back("~lock:a");  // the lock, and none of its helpers
  expect_denied(*as_user(rights), "~lock:*");
}

TEST_F(C23, RightsToOneNameAreEnoughForIt) {
  auto rights = minimal_without("~lock:*");
  rights.push_back("~lock:a");
  rights.push_back("~lock:{lock:a}*");
  const auto store = as_user(rights);
  store->grant(claim("a", 1));
  expect<Released>(store->withdraw(claim("a", 1)));
  use_every_verb_beside_others(*store);
  const AcquireReply other = store->acquire(claim("b", 1));
  ASSERT_TRUE(std::holds_alternative<Failed>(other));
  EXPECT_EQ(std::get<Failed>(other).code, errc::access_denied);
}

TEST_F(C23, DoctorSaysThatItMayNotLook) {
  const auto findings = as_user(minimal)->diagnose();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_NE(findings[1].advice.find("+info"), std::string::npos);
}

TEST_F(C23, TheListIsTheOneInTheReadme) {
  std::ifstream file{HOLDFAST_SOURCE_DIR "/src/store/redis/README.md"};
  std::stringstream text;
  text << file.rdbuf();
  for (const std::string& right : minimal) {
    EXPECT_NE(text.str().find(right), std::string::npos) << right;
  }
}

}  // namespace
}  // namespace holdfast::redis_tests

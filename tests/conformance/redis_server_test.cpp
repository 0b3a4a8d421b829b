// What a server may do to us: forget, fill up, lose its scripts, hold keys of other programs, and
// give us few rights.
#include "tests/conformance/redis_fixture.hpp"

namespace holdfast::redis_tests {
namespace {

class RedisTrouble : public OnRedis {
 protected:
  errc code_of(const AcquireReply& reply) {
    const auto* failed = std::get_if<Failed>(&reply);
    EXPECT_NE(failed, nullptr) << Asker::why(reply);
    return failed == nullptr ? errc::busy : static_cast<errc>(failed->code.value());
  }
};

class C22 : public RedisTrouble {};

TEST_F(C22, FlushedScriptsAreSentAgainUnseen) {
  store().grant(claim("a", 1));
  server().command({"SCRIPT", "FLUSH"});
  EXPECT_TRUE(std::holds_alternative<Renewed>(store().renew(claim("a", 1))));
  server().command({"SCRIPT", "FLUSH"});
  EXPECT_TRUE(std::holds_alternative<Released>(store().withdraw(claim("a", 1))));
}

TEST_F(C22, RestartWithoutPersistenceIsSeenAndFencesRise) {
  const auto fence = store().grant(claim("a", 1));
  server().restart();
  RenewReply reply = store().renew(claim("a", 1));
  while (std::holds_alternative<Failed>(reply)) {  // the old connection, then the new one
    reply = store().renew(claim("a", 1));
  }
  ASSERT_TRUE(std::holds_alternative<Gone>(reply));
  EXPECT_EQ(std::get<Gone>(reply).reason, GoneReason::taken);
  EXPECT_GT(store().grant(claim("a", 2)), fence);
}

TEST_F(RedisTrouble, FlushedFencesStillRise) {
  const auto fence = store().grant(claim("a", 1));
  server().command({"FLUSHALL"});
  EXPECT_GT(store().grant(claim("a", 2)), fence);
}

TEST_F(RedisTrouble, ANewerFormatIsRefusedBeforeAnythingIsWritten) {
  server().command({"SET",
                    "lock:\x1f"
                    "format",
                    "2"});
  EXPECT_EQ(code_of(store().acquire(claim("a", 1))), errc::format_too_new);
  EXPECT_EQ(server().command({"DBSIZE"}), "1");
  server().command({"SET",
                    "lock:\x1f"
                    "format",
                    "1"});
  EXPECT_TRUE(std::holds_alternative<Granted>(store().acquire(claim("a", 1))));
}

TEST_F(RedisTrouble, AForeignStringIsHeldAndNeverTouched) {
  server().command({"SET", "lock:a", "their token"});
  const AcquireReply reply = store().acquire(claim("a", 1));
  ASSERT_TRUE(std::holds_alternative<Busy>(reply)) << Asker::why(reply);
  const auto& busy = std::get<Busy>(reply);
  EXPECT_GT(busy.recheck_in, 0s);
  ASSERT_TRUE(busy.holder);
  EXPECT_EQ(busy.holder->who.note.find("their token"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<Queued>(store().queue(claim("a", 1))));
  EXPECT_TRUE(std::holds_alternative<Gone>(store().renew(claim("a", 1))));
  EXPECT_TRUE(std::holds_alternative<Released>(store().withdraw(claim("a", 1))));  // the place
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(claim("a", 1))));
  const BreakReply broken = store().break_name("a", BreakMode::ask_holder);
  ASSERT_TRUE(std::holds_alternative<Failed>(broken));
  EXPECT_EQ(std::get<Failed>(broken).code, errc::unsupported);
  EXPECT_EQ(server().command({"GET", "lock:a"}), "their token");
  EXPECT_EQ(store().inspect("a").holders.size(), 1U);
}

TEST_F(RedisTrouble, BreakNowFreesAForeignString) {
  server().command({"SET", "lock:a", "theirs"});
  store().break_name("a", BreakMode::now);
  store().grant(claim("a", 1));
}

TEST_F(RedisTrouble, AWaiterGetsInAfterAForeignHolder) {
  server().command({"SET", "lock:a", "theirs", "PX", "100"});
  EXPECT_TRUE(std::holds_alternative<Queued>(store().queue(claim("a", 1))));
  store().run_for(150ms);
  store().grant(claim("a", 1));
}

TEST_F(RedisTrouble, AKeyOfAnotherTypeIsAClearError) {
  server().command({"RPUSH", "lock:a", "x"});
  EXPECT_EQ(code_of(store().acquire(claim("a", 1))), errc::unsupported);
  EXPECT_EQ(code_of(store().queue(claim("a", 1))), errc::unsupported);
  EXPECT_EQ(server().command({"KEYS", "*"}), "lock:a");
  EXPECT_TRUE(std::holds_alternative<NotOwner>(store().withdraw(claim("a", 1))));
  store().grant(claim("b", 1));
  const auto replies = store().renew({claim("a", 1), claim("b", 1)});  // one cannot spoil the batch
  EXPECT_TRUE(std::holds_alternative<Gone>(replies[0]));
  EXPECT_TRUE(std::holds_alternative<Renewed>(replies[1]));
}

TEST_F(RedisTrouble, AnEvictedRecordLosesNoLock) {
  const auto fence = store().grant(claim("a", 1));
  server().command({"DEL", helper("record", "a")});
  store().queue(claim("a", 2));
  EXPECT_TRUE(std::holds_alternative<Renewed>(store().renew(claim("a", 1))));
  EXPECT_GT(store().grant(claim("a", 1)), fence);
  EXPECT_TRUE(std::holds_alternative<Released>(store().withdraw(claim("a", 1))));
  EXPECT_EQ(server().command({"GET", "lock:a"}), owner(2).text());
}

TEST_F(RedisTrouble, FullMemoryGrantsNothingAndStillTakesRenewalsAndReleases) {
  store().grant(claim("held", 1));
  store().queue(claim("held", 2));
  store().grant(claim("warm", 1));
  store().withdraw(claim("warm", 1));
  store().renew(claim("held", 1));
  server().command({"CONFIG", "SET", "maxmemory", "1"});
  const AcquireReply reply = store().acquire(claim("a", 3));
  EXPECT_EQ(code_of(reply), errc::store_unavailable);
  EXPECT_NE(std::get<Failed>(reply).detail.find("maxmemory"), std::string::npos);
  EXPECT_EQ(server().command({"EXISTS", "lock:a"}), "0");
  EXPECT_TRUE(std::holds_alternative<Renewed>(store().renew(claim("held", 1))));
  EXPECT_TRUE(std::holds_alternative<Released>(store().withdraw(claim("held", 1))));
  EXPECT_EQ(server().command({"GET", "lock:held"}), owner(2).text());
  EXPECT_EQ(store().inspect("held").holders.at(0).fence, store().inspect("held").last_fence);
  EXPECT_TRUE(
      std::holds_alternative<NotOwner>(store().withdraw(claim("a", 3), {.tombstone = true})));
  server().command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(std::holds_alternative<Busy>(store().acquire(claim("a", 3))));
  store().grant(claim("a", 4));
}

TEST_F(RedisTrouble, ADamagedFenceDoesNotMakeAReleaseFail) {
  store().grant(claim("a", 1));
  store().queue(claim("a", 2));
  server().command({"SET", helper("fence", "a"), "junk"});
  EXPECT_TRUE(std::holds_alternative<Released>(store().withdraw(claim("a", 1))));
  EXPECT_EQ(server().command({"EXISTS", "lock:a"}), "0");
}

TEST_F(RedisTrouble, AReplicaIsRefused) {
  RedisServer replica{{.more = {"--replicaof", "127.0.0.1", std::to_string(server().port())}}};
  Asker asker{replica.url()};
  EXPECT_EQ(code_of(asker.acquire(claim("a", 1))), errc::store_unavailable);
}

TEST_F(RedisTrouble, AClusterNodeIsRefusedAsSuch) {
  RedisServer node{{.more = {"--cluster-enabled", "yes"}}};
  node.command({"CLUSTER", "ADDSLOTSRANGE", "0", "1"});
  Asker asker{node.url()};
  const AcquireReply reply = asker.acquire(claim("a", 1));
  ASSERT_TRUE(std::holds_alternative<Failed>(reply));
}

TEST_F(RedisTrouble, ADatabaseThatIsNotThereIsTold) {
  Asker asker{server().url() + "/99"};
  EXPECT_EQ(code_of(asker.acquire(claim("a", 1))), errc::invalid_url);
}

TEST_F(RedisTrouble, DatabasesAreApart) {
  store().grant(claim("a", 1));
  Asker other{server().url() + "/3"};
  other.grant(claim("a", 2));
  EXPECT_EQ(server().command({"GET", "lock:a"}), owner(1).text());
}

TEST_F(RedisTrouble, PrefixesAreApart) {
  store().grant(claim("a", 1));
  Asker other{with_option(server().url(), "prefix=app%5B1%5D:")};
  other.grant(claim("a", 2));
  other.grant(claim("b", 2));
  EXPECT_EQ(other.list("").size(), 2U);
  EXPECT_EQ(store().list("").size(), 1U);
  EXPECT_EQ(server().command({"GET", "app[1]:a"}), owner(2).text());
}

TEST_F(RedisTrouble, WrongPasswordIsTold) {
  RedisServer closed{{.password = "right"}};
  Asker asker{closed.url(), "wrong"};
  const AcquireReply reply = asker.acquire(claim("a", 1));
  EXPECT_EQ(code_of(reply), errc::access_denied);
  EXPECT_EQ(std::get<Failed>(reply).detail.find("wrong\""), std::string::npos);
  Asker without{closed.url()};
  EXPECT_EQ(code_of(without.acquire(claim("a", 1))), errc::access_denied);
  Asker right{closed.url(), "right"};
  right.grant(claim("a", 1));
}

TEST_F(RedisTrouble, DoctorJudgesTheServer) {
  const auto has = [](const std::vector<Finding>& findings, Finding::Level level,
                      const std::string& word) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.level == level && finding.what.find(word) != std::string::npos;
    });
  };
  auto findings = store().diagnose();
  EXPECT_TRUE(has(findings, Finding::Level::good, "one round trip"));
  EXPECT_TRUE(has(findings, Finding::Level::note, "fit for"));
  server().command({"CONFIG", "SET", "maxmemory", "100mb"});
  server().command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  findings = store().diagnose();
  EXPECT_TRUE(has(findings, Finding::Level::failure, "evict"));
  EXPECT_FALSE(has(findings, Finding::Level::note, "fit for"));
}

}  // namespace
}  // namespace holdfast::redis_tests

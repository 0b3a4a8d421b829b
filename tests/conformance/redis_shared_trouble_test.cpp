// What a server may do to holders that stand side by side: forget a part of what it knows, fill up,
// refuse a command in the middle of a script, hold keys of other programs.
#include "tests/conformance/redis_fixture.hpp"

namespace holdfast::redis_tests {
namespace {

class RedisSharedTrouble : public OnRedis {
 protected:
  std::string value_of(const std::string& key) { return server().command({"GET", key}); }
  bool exists(const std::string& key) { return server().command({"EXISTS", key}) == "1"; }
};

TEST_F(RedisSharedTrouble, FlushedScriptsAreSentAgainUnseen) {
  store().grant(reader("a", 1));
  server().command({"SCRIPT", "FLUSH"});
  expect<Renewed>(store().renew(reader("a", 1)));
  server().command({"SCRIPT", "FLUSH"});
  expect<Amended>(store().amend(reader("a", 1)));
  server().command({"SCRIPT", "FLUSH"});
  expect<AllGranted>(store().acquire_all({reader("a", 2)}));
  server().command({"SCRIPT", "FLUSH"});
  expect<Released>(store().withdraw(reader("a", 1)));
}

// Nobody can tell any more who is inside: the name stays shut to the end of the longest lease.
TEST_F(RedisSharedTrouble, AnEvictedHelperKeyShutsTheNameUntilItsEnd) {
  for (const char* kind : {"record", "ends", "order"}) {
    store().grant(reader("a", 1, 300ms));
    store().grant(reader("a", 2, 100ms));
    server().command({"DEL", helper(kind, "a")});
    EXPECT_EQ(expect<Gone>(store().renew(reader("a", 1))).reason, GoneReason::taken) << kind;
    EXPECT_EQ(expect<Gone>(store().amend(reader("a", 1))).reason, GoneReason::taken) << kind;
    expect<NotOwner>(store().withdraw(reader("a", 1)));
    const auto busy = expect<Busy>(store().acquire(reader("a", 3)));
    EXPECT_GT(busy.recheck_in, 0s);
    EXPECT_LE(busy.recheck_in, 300ms);
    expect<Busy>(store().acquire(claim("a", 3)));
    expect<AllBusy>(store().acquire_all({claim("a", 3)}));
    EXPECT_EQ(store().inspect("a").holders.size(), 1U) << kind;
    EXPECT_EQ(value_of("lock:a"), "shared");
    store().run_for(350ms);
    store().grant(reader("a", 4));
    EXPECT_EQ(store().inspect("a").holders.size(), 1U) << kind;
    expect<Released>(store().withdraw(reader("a", 4)));
  }
}

TEST_F(RedisSharedTrouble, BreakNowOpensANameWhoseHoldersAreForgotten) {
  store().grant(reader("a", 1));
  server().command({"DEL", helper("ends", "a")});
  EXPECT_EQ(expect<Failed>(store().break_name("a", BreakMode::ask_holder)).code, errc::unsupported);
  EXPECT_EQ(expect<BreakDone>(store().break_name("a", BreakMode::now)).holders.size(), 1U);
  EXPECT_EQ(keys(), std::vector<std::string>{helper("fence", "a")});
}

TEST_F(RedisSharedTrouble, ALockKeyThatSomebodyDeletedEndsAllLeases) {
  store().grant(reader("a", 1));
  store().grant(reader("a", 2));
  server().command({"DEL", "lock:a"});
  expect<Gone>(store().renew(reader("a", 1)));
  const auto fresh = expect<Granted>(store().acquire(reader("a", 3)));
  EXPECT_EQ(fresh.floor, fresh.fence) << "what is left of the others counts no more";
  const NameView view = store().inspect("a");
  ASSERT_EQ(view.holders.size(), 1U);
  EXPECT_EQ(view.holders[0].owner, owner(3));
  expect<Gone>(store().renew(reader("a", 2)));
}

TEST_F(RedisSharedTrouble, AForeignStringShutsOutReadersAndPermits) {
  for (const char* theirs : {"their token", "shared", "permits/3", "permits/x"}) {
    server().command({"SET", "lock:a", theirs});
    expect<Busy>(store().acquire(reader("a", 1)));
    expect<Busy>(store().acquire(permit("a", 1, 3)));
    expect<Queued>(store().queue(permit("a", 1, 3)));
    expect<Gone>(store().renew(reader("a", 1)));
    expect<Gone>(store().amend(reader("a", 1)));
    expect<Released>(store().withdraw(permit("a", 1, 3)));  // the place
    EXPECT_EQ(value_of("lock:a"), theirs);
    EXPECT_EQ(store().inspect("a").holders.size(), 1U) << theirs;
    expect<BreakDone>(store().break_name("a", BreakMode::now));
    EXPECT_FALSE(exists("lock:a"));
  }
}

TEST_F(RedisSharedTrouble, FullMemoryGrantsNothingAndStillTakesWhatGivesBack) {
  store().listen();
  Claim run = reader("held", 1);
  run.run_id = "monday";
  Claim lasting = reader("held", 2);
  lasting.min_hold = 5s;
  store().grant(run);
  store().grant(lasting);
  store().grant(reader("held", 3));
  store().queue(claim("held", 4));
  Claim valued = claim("alone", 5);
  store().grant(valued);
  server().command({"CONFIG", "SET", "maxmemory", "1"});
  for (const Claim& wish : {reader("a", 6), permit("a", 6, 3), claim("a", 6)}) {
    const auto failed = expect<Failed>(store().acquire(wish));
    EXPECT_EQ(failed.code, errc::store_unavailable);
    EXPECT_FALSE(failed.may_have_had_effect);
    expect<Failed>(store().acquire_all({wish, claim("b", 7)}));
  }
  EXPECT_FALSE(exists("lock:a"));
  EXPECT_FALSE(exists("lock:b"));
  valued.value = "new";
  EXPECT_EQ(expect<Failed>(store().amend(valued)).code, errc::store_unavailable);
  expect<Renewed>(store().renew(reader("held", 3)));
  expect<BreakDone>(store().break_name("held", BreakMode::ask_holder));
  EXPECT_EQ(expect<Gone>(store().renew(reader("held", 3))).reason, GoneReason::broken);
  expect<Released>(store().withdraw(run, {.keep_min_hold = true, .remember = 60s}));
  expect<Released>(store().withdraw(lasting, {.keep_min_hold = true, .tombstone = true}));
  EXPECT_TRUE(store().inspect("held").holders.at(0).released);
  expect<Released>(store().withdraw(reader("held", 3)));
  expect<BreakDone>(store().break_name("held", BreakMode::ask_holder));  // min_hold's tombstone
  EXPECT_EQ(value_of("lock:held"), owner(4).text());
  EXPECT_EQ(value_of(helper("done:monday", "held")), owner(1).text());
  server().command({"CONFIG", "SET", "maxmemory", "0"});
}

// A server that refuses one command in the middle of a script, as one that has run out of something
// would: the right to it is taken away after the connection was judged.
class RedisHalfWay : public OnRedis {
 protected:
  void SetUp() override {
    OnRedis::SetUp();
    if (IsSkipped()) {
      return;
    }
    server().command({"ACL", "SETUSER", "u", "on", ">pw", "~lock:*", "&lock:*", "+@all"});
    std::string url = server().url();
    url.insert(url.find("//") + 2, "u@");
    limited_ = std::make_unique<Asker>(url, "pw");
    limited_->grant(claim("warm", 9));
  }
  Asker& limited() { return *limited_; }
  void refuse(const std::string& command) {
    server().command({"ACL", "SETUSER", "u", "-" + command});
  }
  void allow(const std::string& command) {
    server().command({"ACL", "SETUSER", "u", "+" + command});
  }

  const std::vector<std::string> writes{"set",  "del",  "hset",      "hdel",
                                        "zadd", "zrem", "pexpireat", "publish"};

 private:
  std::unique_ptr<Asker> limited_{};
};

TEST_F(RedisHalfWay, AGrantThatFailsLeavesTheNameFree) {
  for (const std::string& command : writes) {
    for (const Claim& wish : {claim("a", 1), reader("a", 1), permit("a", 1, 3)}) {
      refuse(command);
      const AcquireReply reply = limited().acquire(wish);
      allow(command);
      if (std::holds_alternative<Failed>(reply)) {
        EXPECT_EQ(server().command({"EXISTS", "lock:a"}), "0") << command;
      } else {
        expect<Released>(store().withdraw(wish));
      }
      const auto next = expect<Granted>(store().acquire(wish));
      EXPECT_EQ(next.floor, next.fence) << command << ": nobody else is inside";
      expect<Released>(store().withdraw(wish));
    }
  }
}

TEST_F(RedisHalfWay, AGrantBesideOthersThatFailsLetsNobodyElseIn) {
  for (const std::string& command : writes) {
    store().grant(reader("a", 1));
    refuse(command);
    const AcquireReply reply = limited().acquire(reader("a", 2));
    allow(command);
    expect<Busy>(store().acquire(claim("a", 3)));
    EXPECT_GT(pttl("lock:a"), 9000) << command;
    const RenewReply first = store().renew(reader("a", 1));
    EXPECT_FALSE(std::holds_alternative<Failed>(first)) << command;
    expect<Busy>(store().acquire(claim("a", 3)));
    expect<BreakDone>(store().break_name("a", BreakMode::now));
    store().grant(claim("a", 3));
    expect<Released>(store().withdraw(claim("a", 3)));
  }
}

TEST_F(RedisHalfWay, ALeaseThatIsHeldIsNeverWithoutALock) {
  Claim downgraded = claim("a", 1);
  downgraded.mode = Mode::shared;
  for (const std::string& command : writes) {
    store().grant(claim("a", 1));
    refuse(command);
    limited().amend(downgraded);
    limited().renew(downgraded);
    allow(command);
    EXPECT_GT(pttl("lock:a"), 9000) << command;
    expect<Busy>(store().acquire(claim("a", 3)));
    expect<BreakDone>(store().break_name("a", BreakMode::now));
  }
}

TEST_F(RedisHalfWay, AFailedHandOffDoesNotMakeAReleaseFail) {
  for (const Claim& holds : {claim("a", 1), reader("a", 1)}) {
    store().grant(holds);
    store().queue(claim("a", 2));
    refuse("hset");  // the next grant fails at its record
    expect<Released>(limited().withdraw(holds));
    allow("hset");
    EXPECT_EQ(server().command({"EXISTS", "lock:a"}), "0");
    store().grant(claim("a", 2));
    expect<Released>(store().withdraw(claim("a", 2)));
  }
}

}  // namespace
}  // namespace holdfast::redis_tests

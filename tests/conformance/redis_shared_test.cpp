// Holders side by side, and the keys that say so.
#include "tests/conformance/redis_fixture.hpp"

namespace holdfast::redis_tests {
namespace {

class RedisShared : public OnRedis {
 protected:
  std::string value_of(const std::string& key) { return server().command({"GET", key}); }
  bool exists(const std::string& key) { return server().command({"EXISTS", key}) == "1"; }
};

TEST_F(RedisShared, EverySetNxClientSeesThatTheNameIsHeld) {
  const auto a = expect<Granted>(store().acquire(reader("a", 1, 5s)));
  EXPECT_EQ(value_of("lock:a"), "shared");
  EXPECT_EQ(server().command({"SET", "lock:a", "theirs", "NX", "PX", "1000"}), "(nil)");
  const auto b = expect<Granted>(store().acquire(reader("a", 2)));
  EXPECT_GT(b.fence, a.fence);
  EXPECT_EQ(b.floor, a.fence);
  store().grant(permit("pool", 1, 3, 2));
  EXPECT_EQ(value_of("lock:pool"), "permits/3");
  EXPECT_EQ(value_of(helper("fence", "a")), std::to_string(to_int(b.fence)));
}

TEST_F(RedisShared, TheLockKeyEndsWithTheLastOfThem) {
  store().grant(reader("a", 1, 5s));
  EXPECT_LE(pttl("lock:a"), 5000);
  store().grant(reader("a", 2, 20s));
  store().grant(reader("a", 3, 10s));
  for (const char* kind : {"record", "ends", "order"}) {
    EXPECT_GT(pttl(helper(kind, "a")), 15'000) << kind;
  }
  EXPECT_GT(pttl("lock:a"), 15'000);
  expect<Renewed>(store().renew(reader("a", 2, 8s)));
  EXPECT_LE(pttl("lock:a"), 10'000) << "a shorter lease than before";
  EXPECT_GT(pttl("lock:a"), 9000);
  expect<Released>(store().withdraw(reader("a", 3)));
  EXPECT_LE(pttl("lock:a"), 8000);
  expect<Released>(store().withdraw(reader("a", 2)));
  EXPECT_LE(pttl("lock:a"), 5000);
  EXPECT_GT(pttl("lock:a"), 4000);
}

TEST_F(RedisShared, NoKeyStaysAfterUseButTheFence) {
  Claim run = reader("a", 1);
  run.run_id = "monday";
  store().grant(run);
  store().grant(reader("a", 2));
  store().queue(claim("a", 3));
  for (const std::string& key : keys()) {
    EXPECT_GT(pttl(key), 0) << key;
  }
  EXPECT_EQ(keys().size(), 8U);  // lock, fence, record, ends, order; queue, beats, waiters
  store().withdraw(claim("a", 3));
  store().withdraw(reader("a", 2));
  store().withdraw(run, {.remember = 60s});
  EXPECT_EQ(keys(), (std::vector<std::string>{helper("done:monday", "a"), helper("fence", "a")}));
  EXPECT_LE(pttl(helper("done:monday", "a")), 60'000);
  EXPECT_GT(pttl(helper("done:monday", "a")), 59'000);
}

TEST_F(RedisShared, WhoEndsFirstLeavesTheOthers) {
  store().grant(reader("a", 1, 100ms));
  store().grant(reader("a", 2));
  store().run_for(150ms);
  EXPECT_EQ(store().inspect("a").holders.size(), 1U) << "not counted, even before it is removed";
  expect<Renewed>(store().renew(reader("a", 2)));
  EXPECT_EQ(server().command({"HLEN", helper("record", "a")}), "1");
  EXPECT_EQ(expect<Gone>(store().renew(reader("a", 1))).reason, GoneReason::taken);
}

TEST_F(RedisShared, WhenAllHaveEndedTheNameIsFree) {
  store().grant(reader("a", 1, 100ms));
  store().grant(reader("a", 2, 120ms));
  store().run_for(200ms);
  EXPECT_FALSE(exists("lock:a"));
  store().grant(claim("a", 3));
  EXPECT_EQ(value_of("lock:a"), owner(3).text());
  expect<Released>(store().withdraw(claim("a", 3)));
  store().grant(reader("a", 4));
  EXPECT_EQ(store().inspect("a").holders.size(), 1U);
}

TEST_F(RedisShared, ADowngradeKeepsTheExpiryAndTheFence) {
  Claim held = claim("a", 1, 5s);
  const auto fence = store().grant(held);
  held.mode = Mode::shared;
  held.value = std::string{"v\0\x1f%s", 5};
  expect<Amended>(store().amend(held));
  EXPECT_EQ(value_of("lock:a"), "shared");
  EXPECT_LE(pttl("lock:a"), 5001);
  EXPECT_GT(pttl("lock:a"), 4500);
  const Holder seen = store().inspect("a").holders.at(0);
  EXPECT_EQ(to_int(seen.fence), fence);
  EXPECT_EQ(seen.who, held.who);
  EXPECT_EQ(seen.value, held.value);
  EXPECT_EQ(to_int(expect<Granted>(store().acquire(reader("a", 2))).floor), fence);
  held.mode = Mode::exclusive;  // its owner may not have heard that it was downgraded
  expect<Renewed>(store().renew(held));
  EXPECT_EQ(expect<Failed>(store().amend(held)).code, errc::invalid_options);
}

TEST_F(RedisShared, OneScriptRenewsAHundredOfBothModes) {
  std::vector<Claim> claims;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(i);
    claims.push_back(i % 2 == 0 ? claim(name, 1) : permit(name, 1, 3));
    if (i % 3 != 0) {
      store().grant(claims.back());
    }
  }
  store().renew(claims);
  server().command({"CONFIG", "RESETSTAT"});
  const auto replies = store().renew(claims);
  EXPECT_EQ(server().calls("evalsha"), 1);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(std::holds_alternative<Renewed>(replies[i]), i % 3 != 0) << i;
  }
}

TEST_F(RedisShared, HoldersOfOneNameMayStandInOneBatch) {
  const std::vector<Claim> two{reader("a", 1), reader("a", 2), reader("a", 3)};
  store().grant(two[0]);
  store().grant(two[2]);
  const auto replies = store().renew(two);
  expect<Renewed>(replies.at(0));
  expect<Gone>(replies.at(1));
  expect<Renewed>(replies.at(2));
}

TEST_F(RedisShared, AContradictionSaysHowTheNameIsUsed) {
  store().grant(permit("a", 1, 3));
  const auto failed = expect<Failed>(store().acquire(permit("a", 2, 4)));
  EXPECT_EQ(failed.code, errc::invalid_options);
  EXPECT_EQ(failed.detail,
            "the name is in use as a semaphore with limit 3, not as a semaphore with limit 4");
  EXPECT_NE(expect<Failed>(store().acquire(claim("a", 2))).detail.find("not as a lock"),
            std::string::npos);
}

TEST_F(RedisShared, ThePermitsOfManyAreExact) {
  const std::uint32_t most = limit_max;
  store().grant(permit("a", 1, most, most - 1));
  expect<Busy>(store().acquire(permit("a", 2, most, 2)));
  store().grant(permit("a", 3, most, 1));
  expect<Busy>(store().acquire(permit("a", 4, most, 1)));
  EXPECT_EQ(store().inspect("a").holders.at(0).permits, most - 1);
}

TEST_F(RedisShared, QueuedTellsTheLastFenceOfTheName) {
  store().grant(reader("a", 1));
  const auto second = store().grant(reader("a", 2));
  const auto queued = expect<Queued>(store().queue(claim("a", 3)));
  EXPECT_EQ(to_int(queued.last_fence), second);
  ASSERT_TRUE(queued.holder);
  EXPECT_LT(to_int(queued.holder->fence), second) << "the oldest";
  server().command({"DEL", helper("fence", "a")});
  EXPECT_GE(expect<Queued>(store().queue(claim("a", 3))).last_fence, queued.holder->fence);
}

TEST_F(RedisShared, TheHandOffTellsTheFloor) {
  store().listen();
  store().grant(claim("a", 1));
  store().queue(reader("a", 2));
  store().queue(reader("a", 3));
  expect<Released>(store().withdraw(claim("a", 1)));
  ASSERT_TRUE(store().run_until([&] { return store().events.size() == 2; }));
  const auto first = std::get<HandedOff>(store().events.at(0));
  const auto next = std::get<HandedOff>(store().events.at(1));
  EXPECT_EQ(first.floor, first.fence);
  EXPECT_EQ(next.floor, first.fence);
  EXPECT_LE(pttl("lock:a"), 5000) << "provisional: the liveness of the waiters";
}

TEST_F(RedisShared, AWaiterOfAnOlderHoldfastIsServedAlone) {
  store().grant(reader("a", 1));
  std::string wish;
  for (const char* field : {"10000", "0", "0", "0", "client", "7", "host", "note", "1"}) {
    wish.append(field).append("\x1f");
  }
  server().command({"HSET", helper("waiters", "a"), owner(2).text(), wish});
  server().command({"ZADD", helper("queue", "a"), "1", owner(2).text()});
  server().command({"ZADD", helper("beats", "a"), "9000000000000", owner(2).text()});
  expect<Busy>(store().acquire(reader("a", 3)));
  expect<Released>(store().withdraw(reader("a", 1)));
  EXPECT_EQ(value_of("lock:a"), owner(2).text());
  EXPECT_EQ(store().inspect("a").holders.at(0).who.pid, 7);
}

TEST_F(RedisShared, SeveralNamesAreOneCommand) {
  expect<AllGranted>(store().acquire_all({claim("w", 1)}));
  server().command({"CONFIG", "RESETSTAT"});
  const auto all =
      expect<AllGranted>(store().acquire_all({claim("a", 1), reader("b", 2), permit("c", 3, 5)}));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(server().calls("evalsha"), 1);
  EXPECT_EQ(value_of("lock:a"), owner(1).text());
  EXPECT_EQ(value_of("lock:b"), "shared");
  EXPECT_EQ(value_of("lock:c"), "permits/5");
}

TEST_F(RedisShared, ADamagedFenceOfOneNameGrantsNoneOfThem) {
  server().command({"SET", helper("fence", "b"), "junk"});
  const auto failed = expect<Failed>(store().acquire_all({claim("a", 1), reader("b", 2)}));
  EXPECT_EQ(failed.code, errc::storage_unsafe);
  EXPECT_FALSE(exists("lock:a"));
  EXPECT_FALSE(exists("lock:b"));
}

TEST_F(RedisShared, AKeyOfAnotherTypeGrantsNoneOfThem) {
  server().command({"RPUSH", "lock:b", "x"});
  const auto failed = expect<Failed>(store().acquire_all({claim("a", 1), reader("b", 2)}));
  EXPECT_EQ(failed.code, errc::unsupported);
  EXPECT_EQ(keys(), std::vector<std::string>{"lock:b"});
}

TEST_F(RedisShared, WaitersForADoneRunAreToldToLook) {
  store().listen();
  Claim first = claim("a", 1);
  Claim second = claim("a", 2);
  first.run_id = second.run_id = std::string{"r\0\x1f{}", 5};
  store().grant(first);
  store().queue(second);
  expect<Released>(store().withdraw(first, {.remember = 60s}));
  ASSERT_TRUE(store().run_until([&] { return !store().events.empty(); }));
  ASSERT_NE(store().last_event<MaybeFree>(), nullptr);
  EXPECT_EQ(store().last_event<MaybeFree>()->owner, owner(2));
  expect<AlreadyDone>(store().queue(second));
  EXPECT_EQ(keys(),
            (std::vector<std::string>{helper("done:" + first.run_id, "a"), helper("fence", "a")}));
}

TEST_F(RedisShared, WhoStandsBehindTheNextHolderIsToldThatItsRunIsDone) {
  store().listen();
  Claim first = claim("a", 1);
  Claim last = claim("a", 4);
  first.run_id = last.run_id = "monday";
  store().grant(first);
  for (const Claim& waiter : {claim("a", 2), claim("a", 3), last, claim("a", 5)}) {
    store().queue(waiter);
  }
  expect<Released>(store().withdraw(first, {.remember = 60s}));
  expect<Released>(store().withdraw(claim("a", 2)));
  EXPECT_EQ(value_of("lock:a"), owner(3).text());
  ASSERT_TRUE(store().run_until([&] { return store().events.size() == 3; }));
  ASSERT_NE(store().last_event<MaybeFree>(), nullptr);
  EXPECT_EQ(store().last_event<MaybeFree>()->owner, owner(4));
  ASSERT_EQ(store().inspect("a").waiters.size(), 1U);
  EXPECT_EQ(store().inspect("a").waiters.at(0).owner, owner(5)) << "one holder is enough";
}

TEST_F(RedisShared, ListNamesThemOnceAndNoHelperKey) {
  Claim run = reader("a", 1);
  run.run_id = "x\x1fqueue\x1flock:a";
  store().grant(run);
  store().grant(reader("a", 2));
  store().grant(permit("b", 1, 2));
  store().withdraw(run, {.remember = 60s});
  const auto names = store().list("");
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0].holders.size(), 1U);
}

}  // namespace
}  // namespace holdfast::redis_tests

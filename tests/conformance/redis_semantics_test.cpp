// The scripts, step by step, against a real server. What every store promises is tested by the
// shared suite; this looks at the keys as well.
#include "tests/conformance/redis_fixture.hpp"

namespace holdfast::redis_tests {
namespace {

class RedisSemantics : public OnRedis {};

TEST_F(RedisSemantics, GrantIsAPlainStringWithTheOwner) {
  const auto granted = expect<Granted>(store().acquire(claim("a", 1)));
  EXPECT_GT(to_int(granted.fence), 0);
  EXPECT_EQ(granted.floor, granted.fence);
  EXPECT_EQ(granted.ttl, 10s);
  EXPECT_EQ(server().command({"GET", "lock:a"}), owner(1).text());
  EXPECT_NEAR(static_cast<double>(pttl("lock:a")), 10'000, 500);
  EXPECT_EQ(server().command({"GET", helper("fence", "a")}), std::to_string(to_int(granted.fence)));
  EXPECT_NEAR(static_cast<double>(pttl(helper("fence", "a"))), 30.0 * 86'400'000, 5000);
  EXPECT_NEAR(static_cast<double>(pttl(helper("record", "a"))), 10'000, 500);
}

TEST_F(RedisSemantics, EveryKeyEnds) {
  store().grant(claim("a", 1));
  expect<Queued>(store().queue(claim("a", 2)));
  store().withdraw(claim("b", 3), {.tombstone = true});
  for (const std::string& key : keys()) {
    EXPECT_GT(pttl(key), 0) << key;
    EXPECT_TRUE(key.starts_with("lock:")) << key;
  }
  EXPECT_EQ(keys().size(), 7U);  // lock, fence, record, queue, beats, waiters; tombstone
}

TEST_F(RedisSemantics, AskingAgainRefreshesWithTheSameFence) {
  const auto fence = store().grant(claim("a", 1, 5s));
  EXPECT_EQ(store().grant(claim("a", 1, 20s)), fence);
  EXPECT_GT(pttl("lock:a"), 15'000);
  EXPECT_GT(pttl(helper("record", "a")), 15'000);
}

TEST_F(RedisSemantics, OthersAreBusyAndSeeTheHolder) {
  const auto fence = store().grant(claim("a", 1));
  const auto busy = expect<Busy>(store().acquire(claim("a", 2)));
  ASSERT_TRUE(busy.holder);
  EXPECT_EQ(busy.holder->owner, owner(1));
  EXPECT_EQ(to_int(busy.holder->fence), fence);
  EXPECT_EQ(busy.holder->who, (Who{"host", 1, "note 1"}));
  EXPECT_GT(busy.recheck_in, 9s);
  EXPECT_LE(busy.recheck_in, 10s);
}

TEST_F(RedisSemantics, ReleaseFreesAndTheNextFenceIsGreater) {
  const auto first = store().grant(claim("a", 1));
  expect<Released>(store().withdraw(claim("a", 1)));
  EXPECT_EQ(server().command({"EXISTS", "lock:a", helper("record", "a")}), "0");
  expect<NotOwner>(store().withdraw(claim("a", 1)));
  EXPECT_GT(store().grant(claim("a", 2)), first);
}

TEST_F(RedisSemantics, FenceIsAboveTheLastEvenIfThatIsAheadOfTheClock) {
  const std::int64_t ahead = 4'000'000'000'000'000;  // the year 2096
  server().command({"SET", helper("fence", "a"), std::to_string(ahead)});
  EXPECT_EQ(store().grant(claim("a", 1)), ahead + 1);
  EXPECT_GT(pttl(helper("fence", "a")), (ahead - 1'900'000'000'000'000) / 1000);
}

TEST_F(RedisSemantics, DamagedOrUsedUpFencesAreAnErrorAndGrantNothing) {
  for (const char* last : {"9007199254740991", "9007199254740993", "junk"}) {
    server().command({"SET", helper("fence", "a"), last});
    const auto failed = expect<Failed>(store().acquire(claim("a", 1)));
    EXPECT_EQ(failed.code, errc::storage_unsafe) << last;
    EXPECT_EQ(server().command({"EXISTS", "lock:a"}), "0") << last;
  }
}

TEST_F(RedisSemantics, ReleaseHandsOnInOrderAndTells) {
  store().listen();
  const auto first = store().grant(claim("a", 1));
  expect<Queued>(store().queue(claim("a", 2)));
  expect<Queued>(store().queue(claim("a", 3)));
  expect<Queued>(store().queue(claim("a", 2)));  // a beat keeps the place
  expect<Released>(store().withdraw(claim("a", 1)));
  ASSERT_TRUE(store().run_until([&] { return !store().events.empty(); }));
  const auto* handed = store().last_event<HandedOff>();
  ASSERT_NE(handed, nullptr);
  EXPECT_EQ(handed->owner, owner(2));
  EXPECT_GT(to_int(handed->fence), first);
  EXPECT_LE(pttl("lock:a"), 5000);  // provisional: the waiter's liveness
  EXPECT_EQ(store().grant(claim("a", 2)), to_int(handed->fence));
  EXPECT_GT(pttl("lock:a"), 9000);
  const NameView view = store().inspect("a");
  ASSERT_EQ(view.waiters.size(), 1U);
  EXPECT_EQ(view.waiters[0].owner, owner(3));
}

TEST_F(RedisSemantics, RenewingAProvisionalLeaseMakesItFull) {
  store().grant(claim("a", 1));
  store().queue(claim("a", 2));
  store().withdraw(claim("a", 1));
  EXPECT_EQ(expect<Renewed>(store().renew(claim("a", 2))).ttl, 10s);
  EXPECT_GT(pttl("lock:a"), 9000);
}

TEST_F(RedisSemantics, TryingDoesNotOvertakeAndGrantsTheHead) {
  store().grant(claim("a", 1, 100ms));
  store().queue(claim("a", 2));
  store().run_for(150ms);
  const auto busy = expect<Busy>(store().acquire(claim("a", 3)));
  ASSERT_TRUE(busy.holder);
  EXPECT_EQ(busy.holder->owner, owner(2));
  expect<Renewed>(store().renew(claim("a", 2)));
}

TEST_F(RedisSemantics, RenewOfAGoneRecordGrantsTheHead) {
  store().grant(claim("a", 1, 100ms));
  store().queue(claim("a", 2));
  store().run_for(150ms);
  EXPECT_EQ(expect<Gone>(store().renew(claim("a", 1))).reason, GoneReason::taken);
  EXPECT_EQ(server().command({"GET", "lock:a"}), owner(2).text());
}

TEST_F(RedisSemantics, DeadWaitersLoseTheirPlace) {
  Claim dying = claim("a", 2);
  dying.liveness = 50ms;
  store().grant(claim("a", 1));
  store().queue(dying);
  store().queue(claim("a", 3));
  store().run_for(100ms);
  EXPECT_EQ(store().inspect("a").waiters.size(), 1U);
  store().queue(dying);  // too late: joins at the end
  store().withdraw(claim("a", 1));
  EXPECT_EQ(server().command({"GET", "lock:a"}), owner(3).text());
  EXPECT_EQ(server().command({"ZCARD", helper("queue", "a")}), "1");
}

TEST_F(RedisSemantics, WithdrawingWaiterLeavesNothing) {
  store().grant(claim("a", 1));
  store().queue(claim("a", 2));
  expect<Released>(store().withdraw(claim("a", 2)));
  expect<NotOwner>(store().withdraw(claim("a", 2)));
  for (const char* kind : {"queue", "beats", "waiters"}) {
    EXPECT_EQ(server().command({"EXISTS", helper(kind, "a")}), "0") << kind;
  }
}

TEST_F(RedisSemantics, TombstoneRefusesALateAcquire) {
  expect<NotOwner>(store().withdraw(claim("a", 1), {.tombstone = true}));
  expect<Busy>(store().acquire(claim("a", 1)));
  expect<Busy>(store().queue(claim("a", 1)));
  EXPECT_EQ(server().command({"EXISTS", "lock:a", helper("queue", "a")}), "0");
  store().grant(claim("a", 2));
}

TEST_F(RedisSemantics, RenewNeverCreatesNorTouchesAnothersRecord) {
  EXPECT_EQ(expect<Gone>(store().renew(claim("a", 1))).reason, GoneReason::taken);
  EXPECT_EQ(server().command({"EXISTS", "lock:a"}), "0");
  store().grant(claim("a", 2, 5s));
  EXPECT_EQ(expect<Gone>(store().renew(claim("a", 1, 60s))).reason, GoneReason::taken);
  EXPECT_LE(pttl("lock:a"), 5000);
}

TEST_F(RedisSemantics, BatchesAreAnsweredInOrder) {
  std::vector<Claim> claims;
  for (int i = 0; i < 250; ++i) {
    claims.push_back(claim("n" + std::to_string(i), 1));
    if (i % 3 != 0) {
      store().grant(claims.back());
    }
  }
  const auto replies = store().renew(claims);
  ASSERT_EQ(replies.size(), claims.size());
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(std::holds_alternative<Renewed>(replies[i]), i % 3 != 0) << i;
  }
  EXPECT_TRUE(store().renew(std::vector<Claim>{}).empty());
}

TEST_F(RedisSemantics, MaxHoldCapsEveryExpiry) {
  Claim bounded = claim("a", 1);
  bounded.max_hold = 400ms;
  bounded.lock_delay = 200ms;
  EXPECT_EQ(expect<Granted>(store().acquire(bounded)).ttl, 400ms);
  EXPECT_LE(pttl("lock:a"), 600);
  store().run_for(200ms);
  EXPECT_LE(expect<Renewed>(store().renew(bounded)).ttl, 200ms);
  EXPECT_LE(pttl("lock:a"), 400);
  EXPECT_LE(expect<Granted>(store().acquire(bounded)).ttl, 200ms);
}

TEST_F(RedisSemantics, LockDelayIsOnTopOfEveryExpiry) {
  Claim delayed = claim("a", 1, 1s);
  delayed.lock_delay = 5s;
  EXPECT_EQ(expect<Granted>(store().acquire(delayed)).ttl, 1s);
  EXPECT_GT(pttl("lock:a"), 5500);
  EXPECT_EQ(expect<Renewed>(store().renew(delayed)).ttl, 1s);
  EXPECT_GT(pttl("lock:a"), 5500);
}

TEST_F(RedisSemantics, MinHoldOutlastsARelease) {
  Claim held = claim("a", 1);
  held.min_hold = 300ms;
  store().grant(held);
  expect<Released>(store().withdraw(held, {.keep_min_hold = true}));
  expect<NotOwner>(store().withdraw(held, {.keep_min_hold = true}));
  EXPECT_LE(pttl("lock:a"), 300);
  const auto busy = expect<Busy>(store().acquire(claim("a", 2)));
  ASSERT_TRUE(busy.holder);
  EXPECT_TRUE(busy.holder->released);
  EXPECT_EQ(expect<Gone>(store().renew(held)).reason, GoneReason::taken);
  store().run_for(350ms);
  store().grant(claim("a", 2));
}

TEST_F(RedisSemantics, WithdrawIgnoresMinHold) {
  Claim held = claim("a", 1);
  held.min_hold = 10s;
  store().grant(held);
  expect<Released>(store().withdraw(held));
  store().grant(claim("a", 2));
}

TEST_F(RedisSemantics, BreakAsksTheHolder) {
  store().listen();
  store().grant(claim("a", 1));
  store().renew(claim("a", 1));
  store().queue(claim("a", 2));
  const auto done = expect<BreakDone>(store().break_name("a", BreakMode::ask_holder));
  ASSERT_EQ(done.holders.size(), 1U);
  EXPECT_EQ(done.holders[0].owner, owner(1));
  ASSERT_TRUE(store().run_until([&] { return !store().events.empty(); }));
  ASSERT_NE(store().last_event<MarkedBroken>(), nullptr);
  EXPECT_EQ(store().last_event<MarkedBroken>()->owner, owner(1));
  EXPECT_EQ(expect<Gone>(store().renew(claim("a", 1))).reason, GoneReason::broken);
  EXPECT_TRUE(store().inspect("a").holders.at(0).broken);
  expect<Released>(store().withdraw(claim("a", 1), {.keep_min_hold = true}));
  EXPECT_EQ(server().command({"GET", "lock:a"}), owner(2).text());
}

TEST_F(RedisSemantics, BreakNowHandsOnAtOnce) {
  const auto fence = store().grant(claim("a", 1));
  store().queue(claim("a", 2));
  expect<BreakDone>(store().break_name("a", BreakMode::now));
  EXPECT_GT(to_int(store().inspect("a").holders.at(0).fence), fence);
  EXPECT_EQ(expect<Gone>(store().renew(claim("a", 1))).reason, GoneReason::taken);
  EXPECT_TRUE(expect<BreakDone>(store().break_name("free", BreakMode::now)).holders.empty());
}

TEST_F(RedisSemantics, BreakRemovesTheTombstoneOfMinHoldInBothModes) {
  for (const BreakMode mode : {BreakMode::ask_holder, BreakMode::now}) {
    Claim held = claim("a", 1);
    held.min_hold = 10s;
    store().grant(held);
    store().withdraw(held, {.keep_min_hold = true});
    store().break_name("a", mode);
    EXPECT_EQ(server().command({"EXISTS", "lock:a"}), "0");
  }
}

TEST_F(RedisSemantics, ListShowsHeldAndWaitedNamesOnce) {
  for (int i = 0; i < 300; ++i) {
    store().grant(claim("job/" + std::to_string(i), 1));
    store().queue(claim("job/" + std::to_string(i), 2));
  }
  store().grant(claim("other", 1));
  server().command({"SET", "unrelated", "x"});
  server().command({"HSET", "lock:job/hash", "f", "v"});
  server().command({"SET", "lock:job/foreign", "x"});
  const auto names = store().list("job/");
  EXPECT_EQ(names.size(), 301U);
  EXPECT_EQ(store().list("").size(), 302U);
  EXPECT_TRUE(store().list("nothing").empty());
}

TEST_F(RedisSemantics, AcquireAndReleaseAreOneCommandEach) {
  store().grant(claim("warm", 1));
  server().command({"CONFIG", "RESETSTAT"});
  store().grant(claim("a", 1));
  store().withdraw(claim("a", 1), {.keep_min_hold = true});
  EXPECT_EQ(server().calls("evalsha"), 2);
  EXPECT_EQ(server().calls("eval"), 1);  // the release script was new to this server
}

}  // namespace
}  // namespace holdfast::redis_tests

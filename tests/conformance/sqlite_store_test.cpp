// The SQLite store by itself: times, wake-ups, contention, clean-up. What it has in common with the
// other stores is in the model test and in the suite of all stores.
#include "tests/conformance/sqlite_fixture.hpp"

#include <sys/resource.h>
#include <unistd.h>

namespace holdfast::sqlite_tests {
namespace {

class SqliteStoreTest : public testing::Test {
 protected:
  TempDir dir{"/dev/shm"};
  std::string path = dir / "locks.db";
};

// ---- times ------------------------------------------------------------------------------------

TEST_F(SqliteStoreTest, ALeaseEndsOnTheBootClockAndLaterFencesAreGreater) {
  Asker asker{factory_of(path)};
  const auto first = expect<Granted>(asker.acquire(claim("a", 1, 10s)));
  EXPECT_EQ(first.ttl, 10s);
  const auto busy = expect<Busy>(asker.acquire(claim("a", 2)));
  EXPECT_LE(busy.recheck_in, 10s);
  EXPECT_GT(busy.recheck_in, 8s);
  ASSERT_TRUE(busy.holder);
  EXPECT_EQ(busy.holder->who.note, "note 1");
  asker.let_pass(10s);
  const auto second = expect<Granted>(asker.acquire(claim("a", 2)));
  EXPECT_GT(second.fence, first.fence);
  EXPECT_EQ(expect<Gone>(asker.renew(claim("a", 1))).reason, GoneReason::taken);
  expect<NotOwner>(asker.withdraw(claim("a", 1)));
}

TEST_F(SqliteStoreTest, C09RenewalsDoNotAddUpAndTimesOutOfRangeAreRefused) {
  Asker asker{factory_of(path)};
  expect<Granted>(asker.acquire(claim("a", 1, 10s)));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(expect<Renewed>(asker.renew(claim("a", 1, 10s))).ttl, 10s);
  }
  EXPECT_LE(asker.inspect("a").holders.at(0).ttl_left, 10s);
  for (const Duration ttl : {Duration{0}, Duration{-1}, Duration{1}, Duration{99ms},
                             Duration{ttl_max + Duration{1}}, Duration::max(), Duration::min()}) {
    expect_failed(asker.acquire(claim("b", 2, ttl)), errc::invalid_options, "TTL");
  }
  EXPECT_TRUE(asker.inspect("b").holders.empty());
  expect<Granted>(asker.acquire(claim("b", 2, ttl_max)));
  Claim longest = claim("c", 3, ttl_max);
  longest.lock_delay = longest.max_hold = longest.min_hold = Duration::max();
  expect<Granted>(asker.acquire(longest));  // sums stop at the end of time
  EXPECT_GT(asker.inspect("c").holders.at(0).ttl_left, ttl_max);
}

TEST_F(SqliteStoreTest, C10AWallClockStepEndsNoLeaseAndLowersNoFence) {
  static std::int64_t wall = 0;
  sqlite::Settings settings;
  settings.path = path;
  settings.clock = sqlite::HostClock{"boot", "space", [] { return wall; }};
  Asker asker{sqlite::make_factory(settings)};
  wall = 1'000'000'000;
  const auto first = expect<Granted>(asker.acquire(claim("a", 1)));
  EXPECT_EQ(to_int(first.fence), wall);
  wall += 3'600'000'000;
  expect<Renewed>(asker.renew(claim("a", 1)));
  expect<Busy>(asker.acquire(claim("a", 2)));
  wall = 5;
  expect<Renewed>(asker.renew(claim("a", 1)));
  expect<Released>(asker.withdraw(claim("a", 1)));
  EXPECT_EQ(to_int(expect<Granted>(asker.acquire(claim("a", 2))).fence), 1'000'000'001);
}

// ---- names ------------------------------------------------------------------------------------

TEST_F(SqliteStoreTest, C44NamesAreBytes) {
  Asker asker{factory_of(path)};
  const std::vector<std::string> names{"a",
                                       "A",
                                       "a ",
                                       "a/b",
                                       "a/b/c",
                                       "/a",
                                       "a/",
                                       "//",
                                       ".",
                                       "..",
                                       "a b",
                                       "\u00e4",
                                       "a\u0308",
                                       "\U0001f512",
                                       "%2F",
                                       "{x}y",
                                       "a{b}c{d}",
                                       "*",
                                       "?",
                                       "'; DROP TABLE lease; --",
                                       "__",
                                       "a:lock",
                                       "a:fence",
                                       std::string(255, 'x'),
                                       std::string(254, 'x') + "y"};
  std::uint8_t number = 0;
  for (const std::string& name : names) {
    expect<Granted>(asker.acquire(claim(name, ++number)));
  }
  number = 0;
  for (const std::string& name : names) {
    ++number;
    const NameView view = asker.inspect(name);
    ASSERT_EQ(view.holders.size(), 1U) << name;
    EXPECT_EQ(view.holders[0].owner, owner(number)) << name;
    expect<Renewed>(asker.renew(claim(name, number)));
    expect<Busy>(asker.acquire(claim(name, 200)));
  }
  std::vector<std::string> listed;
  for (const NameView& view : asker.list("").names) listed.push_back(view.name);
  EXPECT_THAT(listed, testing::UnorderedElementsAreArray(names));
  for (const std::string bad : {"", "\n", "{", "}", "{}", "}{", "a{", "\xff", "\xc3"}) {
    expect_failed(asker.acquire(claim(bad, 201)), errc::invalid_name, "the name");
  }
  expect_failed(asker.acquire(claim(std::string(1, '\0'), 201)), errc::invalid_name, "control");
  expect_failed(asker.acquire(claim(std::string(1 << 20, 'x'), 201)), errc::invalid_name, "bytes");
}

TEST_F(SqliteStoreTest, ListsByPrefixPageByPage) {
  Asker asker{factory_of(path)};
  std::vector<Claim> all;
  for (int i = 0; i < 450; ++i) {
    all.push_back(claim("job/" + std::to_string(1000 + i), static_cast<std::uint8_t>(i % 250 + 1)));
    expect<Granted>(asker.acquire(all.back()));
  }
  expect<Granted>(asker.acquire(claim("other", 1)));
  expect<Released>(asker.withdraw(all[7]));
  std::vector<std::string> names;
  std::string cursor;
  do {
    const Page page = asker.list("job/", cursor);
    EXPECT_LE(page.names.size(), 200U);
    for (const NameView& view : page.names) names.push_back(view.name);
    cursor = page.next_cursor;
  } while (!cursor.empty());
  ASSERT_EQ(names.size(), 449U);
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

// The store of another process, as far as it can be told apart: a factory of its own.
class SqliteWakeUps : public SqliteStoreTest, public testing::WithParamInterface<bool> {
 protected:
  // True: woken by inotify. False: this runtime cannot watch, so the store looks by timer.
  Asker waiter{factory_of(path), GetParam()};
  Asker other{factory_of(path)};
  Duration patience = GetParam() ? Duration{150ms} : Duration{5s};
};
INSTANTIATE_TEST_SUITE_P(Sqlite, SqliteWakeUps, testing::Bool(), [](const auto& by_inotify) {
  return by_inotify.param ? "Inotify" : "Timer";
});

TEST_P(SqliteWakeUps, TheReleasingStepHandsOnAndTells) {
  waiter.listen();
  expect<Granted>(other.acquire(claim("a", 1)));
  const auto queued = expect<Queued>(waiter.queue(claim("a", 2)));
  EXPECT_GT(queued.recheck_in, 5s);
  expect<Released>(other.withdraw(claim("a", 1)));
  ASSERT_TRUE(waiter.run_until([&] { return !waiter.events.empty(); }, patience));
  const auto told = expect<HandedOff>(waiter.events.at(0));
  EXPECT_EQ(told.owner, owner(2));
  const NameView view = other.inspect("a");
  EXPECT_LE(view.holders.at(0).ttl_left, 5s) << "provisional: the waiter's liveness";
  EXPECT_TRUE(view.waiters.empty());
  EXPECT_EQ(expect<Granted>(waiter.queue(claim("a", 2))).fence, told.fence);
  EXPECT_GT(other.inspect("a").holders.at(0).ttl_left, 5s);
}

TEST_P(SqliteWakeUps, OthersAreNotTold) {
  waiter.listen();
  expect<Granted>(other.acquire(claim("a", 1)));
  expect<Granted>(other.acquire(claim("b", 1)));
  expect<Queued>(other.queue(claim("a", 3)));  // not of the waiter's factory
  expect<Queued>(waiter.queue(claim("b", 2)));
  expect<Released>(other.withdraw(claim("a", 1)));
  expect<Released>(other.withdraw(claim("b", 1)));
  ASSERT_TRUE(waiter.run_until([&] { return !waiter.events.empty(); }, patience));
  EXPECT_EQ(waiter.events.size(), 1U);
  EXPECT_EQ(expect<HandedOff>(waiter.events.at(0)).owner, owner(2));
}

TEST_P(SqliteWakeUps, AHolderThatRenewedIsToldThatItIsBroken) {
  waiter.listen();
  expect<Granted>(waiter.acquire(claim("a", 1)));
  expect<Granted>(other.acquire(claim("b", 3)));
  expect<Queued>(waiter.queue(claim("b", 2)));  // the timer runs only while somebody waits
  expect<Renewed>(waiter.renew(claim("a", 1)));
  EXPECT_EQ(expect<BreakDone>(other.break_name("a", BreakMode::ask_holder)).holders.size(), 1U);
  ASSERT_TRUE(waiter.run_until([&] { return !waiter.events.empty(); }, patience));
  EXPECT_EQ(expect<MarkedBroken>(waiter.events.at(0)).owner, owner(1));
  EXPECT_EQ(expect<Gone>(waiter.renew(claim("a", 1))).reason, GoneReason::broken);
  expect<Busy>(other.acquire(claim("a", 4)));
  expect<Released>(waiter.withdraw(claim("a", 1)));
  expect<Granted>(other.acquire(claim("a", 4)));
}

TEST_P(SqliteWakeUps, AWakeFileThatIsRemovedOrReplacedIsMadeAgain) {
  waiter.listen();
  for (int round = 0; round < 3; ++round) {
    const auto number = static_cast<std::uint8_t>(10 * round);
    expect<Granted>(other.acquire(claim("a", number + 1)));
    expect<Queued>(waiter.queue(claim("a", number + 2)));
    if (round == 1) std::filesystem::remove(path + "-wake");
    if (round == 2) std::filesystem::rename(path + "-wake", path + "-old");
    waiter.run_until([] { return false; }, 20ms);  // lets it see that the file is gone
    expect<Released>(other.withdraw(claim("a", number + 1)));
    waiter.events.clear();
    ASSERT_TRUE(waiter.run_until([&] { return !waiter.events.empty(); }, patience)) << round;
    expect<HandedOff>(waiter.events.at(0));
    expect<Released>(waiter.withdraw(claim("a", number + 2)));
  }
}

TEST_P(SqliteWakeUps, NewsThatWereTrimmedBecomeADoubt) {
  waiter.listen();
  expect<Granted>(other.acquire(claim("a", 1)));
  expect<Queued>(waiter.queue(claim("a", 2)));
  for (int i = 0; i < 1100; ++i) {  // more than the table keeps
    other.break_name("a", BreakMode::ask_holder);
  }
  ASSERT_TRUE(waiter.run_until([&] { return !waiter.events.empty(); }, 5s));
  expect<Doubt>(waiter.events.at(0));
}

// No descriptor is left for inotify, nor for the wake file of the one who has news.
TEST_F(SqliteStoreTest, C16WithoutInotifyAWaiterLooksByItself) {
  Asker waiter{factory_of(path), true};
  Asker other{factory_of(path)};
  waiter.listen();
  expect<Granted>(other.acquire(claim("a", 1)));
  expect<Busy>(waiter.acquire(claim("a", 2)));  // opens the file
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest_free = dup(STDIN_FILENO);
  ASSERT_GE(lowest_free, 0);
  close(lowest_free);
  const rlimit none_left{static_cast<rlim_t>(lowest_free), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none_left), 0);
  expect<Queued>(waiter.queue(claim("a", 2)));
  expect<Released>(other.withdraw(claim("a", 1)));
  const bool told = waiter.run_until([&] { return !waiter.events.empty(); });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(told);
  expect<HandedOff>(waiter.events.at(0));
}

// A waiter that queued through one store of a factory is told through the one that listens.
TEST_F(SqliteStoreTest, TheListeningStoreHearsForAllOfItsFactory) {
  const auto factory = factory_of(path);
  Asker listening{factory, true};
  listening.listen();
  Asker lane{factory};
  Asker other{factory_of(path)};
  expect<Granted>(other.acquire(claim("a", 1)));
  expect<Queued>(lane.queue(claim("a", 2)));
  listening.run_until([] { return false; }, 20ms);  // it was asked by a post to start listening
  expect<Released>(other.withdraw(claim("a", 1)));
  ASSERT_TRUE(listening.run_until([&] { return !listening.events.empty(); }));
  EXPECT_EQ(expect<HandedOff>(listening.events.at(0)).owner, owner(2));
}

// ---- contention -------------------------------------------------------------------------------

TEST_F(SqliteStoreTest, C33ABusyFileIsTriedAgainUntilTheTimeIsOver) {
  Asker asker{factory_of(path, "?op_timeout=300ms")};
  expect<Granted>(asker.acquire(claim("a", 1)));
  Intruder intruder{path};
  ASSERT_EQ(intruder.run("BEGIN IMMEDIATE"), SQLITE_OK);
  const Instant before = BootClock::now();
  expect_failed(asker.acquire(claim("b", 1)), errc::store_unavailable, "busy");
  EXPECT_GE(BootClock::now() - before, 300ms);
  EXPECT_LT(BootClock::now() - before, 900ms);
  expect<Busy>(asker.acquire(claim("a", 2)));  // needs no write, so it needs no lock
  EXPECT_EQ(asker.inspect("a").holders.size(), 1U);
  asker.loop().call_at(asker.loop().now() + 50ms, [&] { intruder.run("COMMIT"); });
  expect<Granted>(asker.acquire(claim("b", 1)));
}

TEST_F(SqliteStoreTest, VerbsRunInTheirOrderEvenWhenTheFileIsBusy) {
  Asker asker{factory_of(path)};
  expect<Granted>(asker.acquire(claim("a", 1)));
  Intruder intruder{path};
  ASSERT_EQ(intruder.run("BEGIN IMMEDIATE"), SQLITE_OK);
  std::vector<std::string> answers;
  asker.store().acquire(claim("b", 2), Store::Queueing::no, [&](AcquireReply reply) {
    answers.emplace_back(std::holds_alternative<Granted>(reply) ? "granted" : "?");
  });
  asker.store().withdraw(claim("b", 2), {}, [&](WithdrawReply reply) {
    answers.emplace_back(std::holds_alternative<Released>(reply) ? "released" : "?");
  });
  asker.loop().call_at(asker.loop().now() + 30ms, [&] { intruder.run("COMMIT"); });
  ASSERT_TRUE(asker.run_until([&] { return answers.size() == 2; }));
  EXPECT_THAT(answers, testing::ElementsAre("granted", "released"));
}

TEST_F(SqliteStoreTest, ClosingDropsWhatIsPendingUncalled) {
  bool called = false;
  auto token = std::make_shared<int>();
  {
    Asker asker{factory_of(path)};
    asker.store().acquire(claim("a", 1), Store::Queueing::no,
                          [&, token](const AcquireReply&) { called = true; });
    asker.store().close();
    EXPECT_EQ(token.use_count(), 1) << "the handler is destroyed by close()";
    asker.run_until([] { return false; }, 5ms);
  }
  EXPECT_FALSE(called);
}

// Renewals come in one request, however many there are.
TEST_F(SqliteStoreTest, RenewsManyAndAnswersInOrder) {
  Asker asker{factory_of(path)};
  std::vector<Claim> claims;
  for (int i = 0; i < 1000; ++i) {
    claims.push_back(claim("name " + std::to_string(i), static_cast<std::uint8_t>(i % 250 + 1)));
    if (i % 3 != 0) expect<Granted>(asker.acquire(claims.back()));
  }
  const auto replies = asker.renew(claims);
  ASSERT_EQ(replies.size(), claims.size());
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(std::holds_alternative<Renewed>(replies[i]), i % 3 != 0) << i;
  }
  EXPECT_TRUE(asker.renew(std::vector<Claim>{}).empty());
}

// ---- clean-up ---------------------------------------------------------------------------------

TEST_F(SqliteStoreTest, IdleNamesGoAwayByThemselvesAndTheirFencesStay) {
  static std::int64_t wall = 1'000'000;
  sqlite::Settings settings;
  settings.path = path;
  settings.clock = sqlite::HostClock{"boot", "space", [] { return wall; }};
  Asker asker{sqlite::make_factory(settings)};
  Fence greatest = Fence::none;
  for (int i = 0; i < 200; ++i) {
    const Claim once = claim("order " + std::to_string(i), static_cast<std::uint8_t>(i + 1));
    greatest = std::max(greatest, expect<Granted>(asker.acquire(once)).fence);
    asker.withdraw(once, {.tombstone = true});
    wall += 1000;
  }
  expect<Granted>(asker.acquire(claim("held", 201, ttl_max)));
  expect<Queued>(asker.queue(claim("held", 202)));
  wall = 0;
  asker.let_pass(2h);
  for (int i = 0; i < 400; ++i) {
    expect<Granted>(asker.acquire(claim("busy", 210)));
    expect<Released>(asker.withdraw(claim("busy", 210), {.tombstone = i == 0}));
    if (i == 0) asker.let_pass(11s);  // its own tombstone
  }
  Intruder intruder{path};
  EXPECT_LE(intruder.count("SELECT count(*) FROM lease"), 6);
  EXPECT_EQ(intruder.count("SELECT count(*) FROM waiter"), 0);
  EXPECT_EQ(asker.inspect("held").holders.size(), 1U);
  EXPECT_GT(expect<Granted>(asker.acquire(claim("order 199", 250))).fence, greatest);
  EXPECT_GT(expect<Granted>(asker.acquire(claim("never seen", 250))).fence, greatest);
}

TEST_F(SqliteStoreTest, AnOwnerThatWithdrewIsNeverGrantedAfterwards) {
  Asker asker{factory_of(path)};
  expect<NotOwner>(asker.withdraw(claim("a", 1), {.tombstone = true}));
  expect<Busy>(asker.acquire(claim("a", 1)));
  expect<Busy>(asker.queue(claim("a", 1)));
  EXPECT_TRUE(asker.inspect("a").waiters.empty());
  expect<Granted>(asker.acquire(claim("a", 2)));
}

}  // namespace
}  // namespace holdfast::sqlite_tests

// What the SQLite store keeps beyond the end of a process: marks of runs across boots and their
// clean-up, which commits are flushed, and files of an older format.
#include "store/sqlite/verbs.hpp"
#include "tests/conformance/sqlite_fixture.hpp"

#include <atomic>
#include <fstream>
#include <thread>

namespace holdfast::sqlite_tests {
namespace {

std::int64_t wall_us = 0;

class SqliteRuns : public testing::Test {
 protected:
  SqliteRuns() { wall_us = 1'000'000'000'000; }

  // Stores of a host that runs its `boot`-th boot.
  std::shared_ptr<StoreFactory> host(int boot) {
    sqlite::Settings settings;
    settings.path = path;
    settings.clock =
        sqlite::HostClock{"boot " + std::to_string(boot), "space", [] { return wall_us; }};
    return sqlite::make_factory(settings);
  }
  static Claim run(const std::string& id, std::uint8_t number) {
    Claim made = claim("job", number);
    made.run_id = id;
    return made;
  }
  static void finish(Asker& asker, const Claim& what, Duration remember) {
    expect<Granted>(asker.acquire(what));
    expect<Released>(asker.withdraw(what, {.keep_min_hold = true, .remember = remember}));
  }
  static bool is_done(Asker& asker, const std::string& id) {
    const Claim what = run(id, 99);
    const AcquireReply reply = asker.acquire(what);
    asker.withdraw(what);
    return std::holds_alternative<AlreadyDone>(reply);
  }

  TempDir dir{"/dev/shm"};
  std::string path = dir / "locks.db";
};

TEST_F(SqliteRuns, WithinABootOnlyTheBootClockCounts) {
  Asker asker{host(1)};
  finish(asker, run("monday", 1), 1h);
  wall_us += 7'200'000'000;
  EXPECT_TRUE(is_done(asker, "monday"));
  wall_us = 0;
  asker.let_pass(59min);
  EXPECT_TRUE(is_done(asker, "monday"));
  asker.let_pass(2min);
  EXPECT_FALSE(is_done(asker, "monday"));
}

TEST_F(SqliteRuns, AMarkOutlivesAReboot) {
  {
    Asker asker{host(1)};
    finish(asker, run("monday", 1), 1h);
    finish(asker, run("tuesday", 1), 3h);
  }
  wall_us += 7'200'000'000;  // two hours off
  Asker asker{host(2)};
  EXPECT_FALSE(is_done(asker, "monday"));
  EXPECT_TRUE(is_done(asker, "tuesday"));
  wall_us += 7'200'000'000;  // a step of the clock: decides nothing any more
  EXPECT_TRUE(is_done(asker, "tuesday"));
  asker.let_pass(59min);
  EXPECT_TRUE(is_done(asker, "tuesday"));
  asker.let_pass(2min);
  EXPECT_FALSE(is_done(asker, "tuesday"));
  finish(asker, run("tuesday", 2), 1h);
  EXPECT_TRUE(is_done(asker, "tuesday")) << "an ended mark gives way to a new one";
}

TEST_F(SqliteRuns, AWallClockThatWasLostRemembersLongerNotForEver) {
  {
    Asker asker{host(1)};
    finish(asker, run("monday", 1), 1h);
  }
  wall_us = 0;  // no battery
  Asker asker{host(2)};
  EXPECT_TRUE(is_done(asker, "monday"));
  wall_us = 1'000'000'000'000;
  asker.let_pass(59min);
  EXPECT_TRUE(is_done(asker, "monday"));
  asker.let_pass(2min);
  EXPECT_FALSE(is_done(asker, "monday"));
}

TEST_F(SqliteRuns, AMarkOutlivesManyReboots) {
  {
    Asker asker{host(1)};
    finish(asker, run("monday", 1), 10h);
  }
  for (int boot = 2; boot < 6; ++boot) {
    wall_us += 3'600'000'000;
    Asker asker{host(boot)};
    EXPECT_TRUE(is_done(asker, "monday")) << boot;
  }
  wall_us += 7 * 3'600'000'000;
  Asker asker{host(6)};
  EXPECT_FALSE(is_done(asker, "monday"));
}

TEST_F(SqliteRuns, EndedMarksGoAwayByThemselves) {
  Intruder intruder{path};
  {
    Asker asker{host(1)};
    for (int i = 0; i < 100; ++i) {
      finish(asker, run("old " + std::to_string(i), 1), 1min);
    }
    finish(asker, run("kept", 1), 100h);
    EXPECT_EQ(intruder.count("SELECT count(*) FROM done"), 101);
  }
  wall_us += 3'600'000'000;
  Asker asker{host(2)};
  for (int i = 0; i < 100; ++i) {
    finish(asker, run("new " + std::to_string(i), 1), 1min);
  }
  EXPECT_LT(intruder.count("SELECT count(*) FROM done"), 140) << "of this boot and the one before";
  asker.let_pass(2min);
  for (int i = 0; i < 300; ++i) {
    expect<Granted>(asker.acquire(claim("busy", 7)));  // any grant will do
    expect<Released>(asker.withdraw(claim("busy", 7)));
  }
  EXPECT_LT(intruder.count("SELECT count(*) FROM done"), 30);
  EXPECT_TRUE(is_done(asker, "kept"));
}

TEST_F(SqliteRuns, ABrokenLimitOrValueIsRefused) {
  Asker asker{host(1)};
  Claim what = claim("pool", 1);
  what.limit = 3;
  expect_failed(asker.acquire(what), errc::invalid_options, "permits");
  what.mode = Mode::shared;
  what.permits = 4;
  expect_failed(asker.acquire(what), errc::invalid_options, "permits");
  what.permits = 0;
  expect_failed(asker.queue(what), errc::invalid_options, "permits");
  what.permits = 1;
  what.value = std::string(value_size_max + 1, 'x');
  expect_failed(asker.acquire(what), errc::invalid_options, "value");
  EXPECT_TRUE(asker.inspect("pool").holders.empty());
}

TEST_F(SqliteRuns, RowsOfManyReadersGoWithThem) {
  Asker asker{host(1)};
  Intruder intruder{path};
  for (std::uint8_t round = 0; round < 3; ++round) {
    for (std::uint8_t i = 1; i <= 50; ++i) {
      Claim reader = claim("a", i, i % 2 == 0 ? Duration{10s} : Duration{1h});
      reader.mode = Mode::shared;
      expect<Granted>(asker.acquire(reader));
    }
    asker.let_pass(11s);  // half of them die
    EXPECT_EQ(asker.inspect("a").holders.size(), 25U);
    for (std::uint8_t i = 1; i <= 50; i = static_cast<std::uint8_t>(i + 2)) {
      expect<Released>(asker.withdraw(claim("a", i)));
    }
    const Fence last = asker.inspect("a").last_fence;
    EXPECT_GT(expect<Granted>(asker.acquire(claim("a", 60))).fence, last);
    EXPECT_EQ(intruder.count("SELECT count(*) FROM lease"), 1);
    expect<Released>(asker.withdraw(claim("a", 60)));
  }
}

TEST_F(SqliteRuns, TheLastFenceOfANameIsTheLastToGo) {
  Asker asker{host(1)};
  Claim patient = claim("a", 1, 100h);
  patient.mode = Mode::shared;
  expect<Granted>(asker.acquire(patient));
  wall_us += 1'000'000;
  Claim brief = claim("a", 2, 1s);
  brief.mode = Mode::shared;
  const Fence last = expect<Granted>(asker.acquire(brief)).fence;
  asker.let_pass(2h);
  wall_us = 0;
  for (int i = 0; i < 50; ++i) {
    expect<Granted>(asker.acquire(claim("busy", 7)));  // sweeps
    expect<Released>(asker.withdraw(claim("busy", 7)));
  }
  Claim next = claim("a", 3);
  next.mode = Mode::shared;
  EXPECT_GT(expect<Granted>(asker.acquire(next)).fence, last);
}

// ---- flushing -----------------------------------------------------------------------------------

class SqliteFlush : public SqliteRuns {
 protected:
  // Whether the step asks for a commit that is flushed.
  template <class Body>
  bool needs_flush(Body body) {
    sqlite::Transaction transaction{database(), sqlite::Transaction::Kind::write};
    sqlite::Step step{.now = Instant{1h}, .unix_us = wall_us, .flush = sqlite::Flush::no};
    try {
      body(step);
    } catch (const sqlite::NeedsFlush&) {
      return true;
    }
    transaction.commit();
    return false;
  }
  template <class Body>
  void flushed(Body body) {
    sqlite::Transaction transaction{database(), sqlite::Transaction::Kind::write};
    sqlite::Step step{.now = Instant{1h}, .unix_us = wall_us};
    body(step);
    transaction.commit();
  }
  sqlite::Database& database() {
    if (!database_) {
      std::ofstream{path}.close();
      database_ = std::make_unique<sqlite::Database>(path);
      const sqlite::HostClock clock{"boot", "space", [] { return wall_us; }};
      table_ = std::make_unique<sqlite::NameTable>(
          *database_, sqlite::open_schema(*database_, clock, Instant{1h}).boot);
      verbs_ = std::make_unique<sqlite::Verbs>(*table_);
    }
    return *database_;
  }
  sqlite::Verbs& verbs() {
    database();
    return *verbs_;
  }

 private:
  std::unique_ptr<sqlite::Database> database_{};
  std::unique_ptr<sqlite::NameTable> table_{};
  std::unique_ptr<sqlite::Verbs> verbs_{};
};

TEST_F(SqliteFlush, FencesAndMarksOnly) {
  using enum Store::Queueing;
  const Claim a = run("monday", 1);
  const Claim b = claim("job", 2);
  EXPECT_TRUE(needs_flush([&](auto& step) { verbs().acquire(a, yes, step); })) << "a fence";
  flushed([&](auto& step) { verbs().acquire(a, no, step); });
  EXPECT_FALSE(needs_flush([&](auto& step) { verbs().renew(a, step); }));
  EXPECT_FALSE(needs_flush([&](auto& step) { verbs().amend(a, step); }));
  EXPECT_FALSE(needs_flush([&](auto& step) { verbs().acquire(b, yes, step); })) << "a place";
  EXPECT_FALSE(needs_flush([&](auto& step) { verbs().acquire(b, yes, step); })) << "a beat";
  EXPECT_TRUE(needs_flush([&](auto& step) { verbs().withdraw(a, {}, step); })) << "a hand-off";
  EXPECT_FALSE(needs_flush([&](auto& step) { verbs().withdraw(b, {}, step); }));
  EXPECT_TRUE(needs_flush([&](auto& step) { verbs().withdraw(a, {.remember = 1h}, step); }));
  EXPECT_FALSE(needs_flush([&](auto& step) { verbs().withdraw(a, {}, step); })) << "a release";
  EXPECT_FALSE(needs_flush([&](auto& step) { verbs().withdraw(a, {.remember = 1h}, step); }))
      << "nothing is marked where nothing is held";
}

// ---- formats ------------------------------------------------------------------------------------

// The tables as holdfast made them in format 1.
constexpr const char* format_1 = R"sql(
PRAGMA journal_mode=WAL;
BEGIN;
CREATE TABLE store(id INTEGER PRIMARY KEY CHECK (id = 1), file_id TEXT NOT NULL,
  fence_floor INTEGER NOT NULL);
CREATE TABLE clock(id INTEGER PRIMARY KEY AUTOINCREMENT, boot_id TEXT NOT NULL UNIQUE,
  time_namespace TEXT NOT NULL);
CREATE TABLE lease(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, fence INTEGER NOT NULL,
  state INTEGER NOT NULL, clock INTEGER NOT NULL, expires INTEGER NOT NULL, owner BLOB NOT NULL,
  granted_at INTEGER NOT NULL, lock_delay INTEGER NOT NULL, min_end INTEGER, max_end INTEGER,
  host TEXT NOT NULL, pid INTEGER NOT NULL, note TEXT NOT NULL);
CREATE TABLE waiter(ticket INTEGER PRIMARY KEY, name TEXT NOT NULL, owner BLOB NOT NULL,
  clock INTEGER NOT NULL, alive_until INTEGER NOT NULL, joined_at INTEGER NOT NULL,
  ttl INTEGER NOT NULL, lock_delay INTEGER NOT NULL, min_hold INTEGER NOT NULL,
  max_hold INTEGER NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, note TEXT NOT NULL,
  UNIQUE(name, owner));
CREATE INDEX waiter_by_name ON waiter(name);
CREATE TABLE tombstone(owner BLOB PRIMARY KEY, clock INTEGER NOT NULL,
  until INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX tombstone_by_end ON tombstone(until);
CREATE TABLE wake(seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, owner BLOB NOT NULL,
  fence INTEGER NOT NULL);
INSERT INTO store VALUES(1, 'an id', 77);
INSERT INTO clock VALUES(5, 'boot 1', 'space');
INSERT INTO wake VALUES(40, 1, zeroblob(16), 3);
PRAGMA application_id=0x686f6c64;
PRAGMA user_version=1;
COMMIT;
)sql";

class SqliteFormat : public SqliteRuns {
 protected:
  SqliteFormat() {
    Intruder old{path};
    EXPECT_EQ(old.run(format_1), SQLITE_OK);
    const auto now = std::to_string(BootClock::now().time_since_epoch().count());
    const std::string later = now + " + 3600000000000";
    const auto blob = [](char digit) { return "x'" + std::string(32, digit) + "'"; };
    EXPECT_EQ(old.run("INSERT INTO lease VALUES(1, 'held', 900, 1, 5, " + later + ", " + blob('1') +
                      ", " + now +
                      ", 0, NULL, NULL, 'h', 7, 'n');"
                      "INSERT INTO lease VALUES(2, 'idle', 5000000000000, 0, 5, 0, " +
                      blob('2') +
                      ", 0, 0, NULL, NULL, '', 0, '');"
                      "INSERT INTO waiter VALUES(3, 'held', " +
                      blob('3') + ", 5, " + later + ", " + now +
                      ", 10000000000, 0, 0, 0, 'h', 8, 'm');"
                      "INSERT INTO tombstone VALUES(" +
                      blob('4') + ", 5, " + later + ")"),
              SQLITE_OK);
  }
  static Claim as(const std::string& name, std::uint8_t digit) {
    Claim made = claim(name, 1);
    made.owner.bytes.fill(static_cast<std::uint8_t>(digit * 0x11));
    return made;
  }
};

TEST_F(SqliteFormat, OneIsBroughtUpToDateWithAllThatItHolds) {
  Asker asker{host(1)};
  const NameView held = asker.inspect("held");
  ASSERT_EQ(held.holders.size(), 1U);
  EXPECT_EQ(held.holders[0].owner, as("held", 1).owner);
  EXPECT_EQ(held.holders[0].mode, Mode::exclusive);
  EXPECT_EQ(held.holders[0].fence, Fence{900});
  EXPECT_EQ(held.holders[0].who, (Who{"h", 7, "n"}));
  ASSERT_EQ(held.waiters.size(), 1U);
  EXPECT_EQ(held.waiters[0].owner, as("held", 3).owner);
  expect<Renewed>(asker.renew(as("held", 1)));
  EXPECT_EQ(expect<Granted>(asker.acquire(as("held", 1))).floor, Fence{900});
  expect<Busy>(asker.acquire(as("idle", 4)));  // a tombstone
  EXPECT_GT(expect<Granted>(asker.acquire(as("idle", 5))).fence, Fence{5'000'000'000'000});
  expect<Released>(asker.withdraw(as("held", 1)));
  EXPECT_EQ(asker.inspect("held").holders.at(0).owner, as("held", 3).owner);
  Intruder intruder{path};
  EXPECT_EQ(intruder.count("PRAGMA user_version"), 2);
  EXPECT_GE(intruder.count("SELECT fence_floor FROM store"), 77);
  EXPECT_EQ(
      intruder.count("SELECT count(*) FROM sqlite_schema WHERE name IN ('lease_1', 'waiter_1')"),
      0);
}

TEST_F(SqliteFormat, ItsTablesAreThoseOfANewFile) {
  expect<Granted>(Asker{host(1)}.acquire(as("idle", 5)));
  TempDir other_dir{"/dev/shm"};
  const std::string other = other_dir / "locks.db";
  expect<Granted>(Asker{factory_of(other)}.acquire(as("idle", 5)));
  Intruder intruder{path};
  EXPECT_EQ(intruder.run("ATTACH '" + other + "' AS new"), SQLITE_OK);
  for (const char* table : {"store", "clock", "lease", "waiter", "done", "tombstone", "wake"}) {
    const std::string columns =
        "(SELECT group_concat(name || type || \"notnull\" || pk) FROM pragma_table_info('" +
        std::string{table} + "', ";
    EXPECT_EQ(intruder.count("SELECT " + columns + "'main')) = " + columns + "'new'))"), 1)
        << table;
  }
  EXPECT_EQ(intruder.count("SELECT (SELECT count(*) FROM main.sqlite_schema) = "
                           "(SELECT count(*) FROM new.sqlite_schema)"),
            1);
}

TEST_F(SqliteFormat, AFailureInBetweenChangesNothing) {
  Intruder intruder{path};
  ASSERT_EQ(intruder.run("CREATE TABLE done(x)"), SQLITE_OK);  // in the way of the new table
  expect_failed(Asker{host(1)}.acquire(as("idle", 5)), errc::store_unavailable, "done");
  EXPECT_EQ(intruder.count("PRAGMA user_version"), 1);
  EXPECT_EQ(intruder.count("SELECT count(*) FROM lease"), 2);
  EXPECT_EQ(intruder.count("SELECT count(*) FROM wake"), 1);
  ASSERT_EQ(intruder.run("DROP TABLE done"), SQLITE_OK);
  expect<Granted>(Asker{host(1)}.acquire(as("idle", 5)));
}

TEST_F(SqliteFormat, ManyMayMeetAnOldFileAtOnce) {
  std::vector<std::unique_ptr<Asker>> askers;
  for (int i = 0; i < 8; ++i) {
    askers.push_back(std::make_unique<Asker>(host(1)));
  }
  std::atomic<int> granted = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < askers.size(); ++i) {
      threads.emplace_back([&, i] {
        const Claim what = claim("n" + std::to_string(i), 1);
        granted += std::holds_alternative<Granted>(askers[i]->acquire(what)) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(granted, 8);
  EXPECT_EQ(askers.front()->inspect("held").holders.size(), 1U);
}

}  // namespace
}  // namespace holdfast::sqlite_tests

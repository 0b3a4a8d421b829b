#include "store/sqlite/crowd.hpp"
#include "store/sqlite/name_state.hpp"
#include "store/sqlite/rows.hpp"

#include <gtest/gtest.h>

namespace holdfast::sqlite {
namespace {

using namespace std::chrono_literals;

constexpr Instant now{1000s};

OwnerId owner(std::uint8_t number) {
  OwnerId id;
  id.bytes.fill(number);
  return id;
}

Claim claim(Duration lock_delay = 0s, Duration min_hold = 0s, Duration max_hold = 0s) {
  Claim made;
  made.owner = owner(1);
  made.lock_delay = lock_delay;
  made.min_hold = min_hold;
  made.max_hold = max_hold;
  return made;
}

TEST(SqliteRows, SumsStopAtTheEndOfTime) {
  EXPECT_EQ(later(now, 5s), Instant{1005s});
  EXPECT_EQ(later(now, Duration::max()), Instant::max());
  EXPECT_EQ(later(Instant::max(), 1ns), Instant::max());
  EXPECT_EQ(left(now, Instant{1001s}), 0s);
}

TEST(SqliteRows, ALeaseIsLiveUntilItsExpiry) {
  LeaseRow row = new_hold(claim(), now);
  EXPECT_EQ(refresh(row, 10s, now), 10s);
  EXPECT_TRUE(row.is_live(now + 10s - 1ns));
  EXPECT_FALSE(row.is_live(now + 10s));
  row.state = LeaseRow::State::idle;
  EXPECT_FALSE(row.is_live(now));
}

TEST(SqliteRows, LockDelayIsTheStoresAlone) {
  LeaseRow row = new_hold(claim(3s, 0s, 0s), now);
  EXPECT_EQ(refresh(row, 10s, now), 10s);
  EXPECT_EQ(row.expires, now + 13s);
}

TEST(SqliteRows, MaxHoldBoundsAndMinHoldExtends) {
  LeaseRow row = new_hold(claim(3s, 4s, 15s), now);
  EXPECT_EQ(refresh(row, 10s, now + 10s), 5s) << "up to max_hold";
  EXPECT_EQ(row.expires, now + 18s) << "and lock_delay on top";
  EXPECT_EQ(refresh(row, 10s, now + 16s), 0s);
  row = new_hold(claim(0s, 20s, 0s), now);
  EXPECT_EQ(refresh(row, 10s, now), 10s);
  EXPECT_EQ(row.expires, now + 20s);
}

TEST(SqliteRows, AHandOffEndsWithThePlaceInTheQueue) {
  LeaseRow row = new_hold(claim(1s, 0s, 0s), now);
  make_provisional(row, now + 2s);
  EXPECT_EQ(row.expires, now + 3s);
  row = new_hold(claim(1s, 60s, 0s), now);
  make_provisional(row, now + 2s);
  EXPECT_EQ(row.expires, now + 3s) << "min_hold counts once the waiter has answered";
  row = new_hold(claim(0s, 0s, 1s), now);
  make_provisional(row, now + 2s);
  EXPECT_EQ(row.expires, now + 1s);
}

TEST(SqliteRows, ABrokenHolderStillHoldsAndAReleasedOneDoesNot) {
  LeaseRow row = new_hold(claim(), now);
  EXPECT_TRUE(row.is_held_by(owner(1)));
  EXPECT_FALSE(row.is_held_by(owner(2)));
  row.state = LeaseRow::State::broken;
  EXPECT_TRUE(row.is_held_by(owner(1)));
  row.state = LeaseRow::State::released;
  EXPECT_FALSE(row.is_held_by(owner(1)));
  EXPECT_TRUE(row.view(now).released);
}

TEST(SqliteRows, AMarkOfAnEarlierBootEndsByTheWallClockOfTheFirstLook) {
  const Boot boot{2, now, 5'000'000};
  EXPECT_EQ(end_in_later_boot(boot, 8'000'000, 1h), now + 3s);
  EXPECT_EQ(end_in_later_boot(boot, 4'000'000, 1h), now) << "it ended while the host was off";
  EXPECT_EQ(end_in_later_boot(boot, 90'000'000'000, 1h), now + 1h) << "the clock was set back";
  EXPECT_EQ(end_in_later_boot({2, now, std::numeric_limits<std::int64_t>::min() / 2},
                              std::numeric_limits<std::int64_t>::max() / 4, Duration::max()),
            later(now, Duration::max() / 2));
}

LeaseRow row_of(std::uint8_t number, Fence fence, Claim claim, Instant expires = now + 10s) {
  claim.owner = owner(number);
  LeaseRow row = new_hold(claim, now);
  row.id = number;
  row.fence = fence;
  row.expires = expires;
  return row;
}

Claim reader() {
  Claim made = claim();
  made.mode = Mode::shared;
  made.owner = owner(9);
  return made;
}
Claim permits(std::uint32_t count) {
  Claim made = reader();
  made.limit = 3;
  made.permits = count;
  return made;
}

TEST(SqliteNameState, TellsTheLivingFromTheEnded) {
  NameState name{"a",
                 {row_of(1, Fence{9}, reader()), row_of(2, Fence{12}, reader(), now),
                  row_of(3, Fence{7}, reader())},
                 now};
  ASSERT_EQ(name.records().size(), 2U);
  EXPECT_EQ(name.records()[0].fence, Fence{7}) << "by fence";
  EXPECT_EQ(name.last(), Fence{12}) << "whoever had it";
  EXPECT_EQ(name.find(owner(2)), nullptr);
  EXPECT_EQ(name.take_spare(), std::vector<std::int64_t>{2});
  EXPECT_TRUE(name.take_spare().empty());
  EXPECT_FALSE(NameState("b", {}, now).is_known());
}

TEST(SqliteNameState, WhoFitsBesideWhom) {
  const NameState idle{"a", {}, now};
  EXPECT_TRUE(idle.fits(claim()));
  EXPECT_TRUE(idle.fits(permits(3)));
  EXPECT_FALSE(idle.fits(permits(4)));
  const NameState read{"a", {row_of(1, Fence{1}, reader())}, now};
  EXPECT_TRUE(read.fits(reader()));
  EXPECT_FALSE(read.fits(claim()));
  Claim same = reader();
  same.owner = owner(1);
  EXPECT_FALSE(read.fits(same)) << "a broken holder that asks again waits behind itself";
  const NameState written{"a", {row_of(1, Fence{1}, claim())}, now};
  EXPECT_FALSE(written.fits(reader()));
  const NameState taken{"a", {row_of(1, Fence{1}, permits(2))}, now};
  EXPECT_TRUE(taken.fits(permits(1)));
  EXPECT_FALSE(taken.fits(permits(2)));
}

TEST(SqliteNameState, OnlyTheRowWithTheLastFenceStays) {
  NameState name{"a", {row_of(1, Fence{1}, reader()), row_of(2, Fence{2}, reader())}, now};
  EXPECT_EQ(name.floor_with(Fence{3}), Fence{1});
  EXPECT_FALSE(name.remove(owner(1)));
  EXPECT_TRUE(name.take_spare().empty());
  EXPECT_TRUE(name.remove(owner(2)));
  EXPECT_EQ(name.take_spare(), std::vector<std::int64_t>{2});
  EXPECT_EQ(name.floor_with(Fence{3}), Fence{3});
  EXPECT_FALSE(name.remove(owner(2)));
}

TEST(SqliteNameState, WaitersSayHowAnEmptyNameIsUsed) {
  const NameState idle{"a", {}, now};
  EXPECT_EQ(idle.why_contradicting(permits(1), std::nullopt), "");
  WaiterRow head;
  head.claim = claim();
  EXPECT_EQ(idle.why_contradicting(claim(), head), "");
  EXPECT_EQ(idle.why_contradicting(permits(1), head),
            "the name is in use as a lock, not as a semaphore with limit 3");
}

TEST(SqliteCrowd, KnowsWhomNewsConcern) {
  Crowd crowd;
  EXPECT_FALSE(crowd.concerns(owner(1)));
  crowd.note_waiter(owner(1));
  crowd.note_waiter(owner(1));
  crowd.note_holder(owner(2));
  EXPECT_TRUE(crowd.has_waiters());
  crowd.note_holder(owner(1));
  EXPECT_FALSE(crowd.has_waiters());
  EXPECT_TRUE(crowd.concerns(owner(1)));
  crowd.note_waiter(owner(2));
  crowd.forget(owner(2));
  crowd.forget(owner(3));
  EXPECT_FALSE(crowd.has_waiters());
  EXPECT_FALSE(crowd.concerns(owner(2)));
}

TEST(SqliteCrowd, AgreesOnTheFirstFileOnly) {
  Crowd crowd;
  EXPECT_FALSE(crowd.known_file());
  EXPECT_TRUE(crowd.agrees_on({{1, 2}, "id"}));
  EXPECT_TRUE(crowd.agrees_on({{1, 2}, "id"}));
  EXPECT_FALSE(crowd.agrees_on({{1, 3}, "id"}));
  EXPECT_FALSE(crowd.agrees_on({{1, 2}, "another"}));
  EXPECT_FALSE(crowd.rouse_listener()) << "nobody listens";
}

}  // namespace
}  // namespace holdfast::sqlite

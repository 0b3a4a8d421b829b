#include "store/sqlite/crowd.hpp"
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

TEST(SqliteRows, SumsStopAtTheEndOfTime) {
  EXPECT_EQ(later(now, 5s), Instant{1005s});
  EXPECT_EQ(later(now, Duration::max()), Instant::max());
  EXPECT_EQ(later(Instant::max(), 1ns), Instant::max());
  EXPECT_EQ(left(now, Instant{1001s}), 0s);
}

TEST(SqliteRows, ALeaseIsLiveUntilItsExpiry) {
  LeaseRow row = new_hold(owner(1), 0s, 0s, 0s, {}, now);
  EXPECT_EQ(refresh(row, 10s, now), 10s);
  EXPECT_TRUE(row.is_live(now + 10s - 1ns));
  EXPECT_FALSE(row.is_live(now + 10s));
  row.state = LeaseRow::State::idle;
  EXPECT_FALSE(row.is_live(now));
}

TEST(SqliteRows, LockDelayIsTheStoresAlone) {
  LeaseRow row = new_hold(owner(1), 3s, 0s, 0s, {}, now);
  EXPECT_EQ(refresh(row, 10s, now), 10s);
  EXPECT_EQ(row.expires, now + 13s);
}

TEST(SqliteRows, MaxHoldBoundsAndMinHoldExtends) {
  LeaseRow row = new_hold(owner(1), 3s, 4s, 15s, {}, now);
  EXPECT_EQ(refresh(row, 10s, now + 10s), 5s) << "up to max_hold";
  EXPECT_EQ(row.expires, now + 18s) << "and lock_delay on top";
  EXPECT_EQ(refresh(row, 10s, now + 16s), 0s);
  row = new_hold(owner(1), 0s, 20s, 0s, {}, now);
  EXPECT_EQ(refresh(row, 10s, now), 10s);
  EXPECT_EQ(row.expires, now + 20s);
}

TEST(SqliteRows, AHandOffEndsWithThePlaceInTheQueue) {
  LeaseRow row = new_hold(owner(1), 1s, 0s, 0s, {}, now);
  make_provisional(row, now + 2s);
  EXPECT_EQ(row.expires, now + 3s);
  row = new_hold(owner(1), 1s, 60s, 0s, {}, now);
  make_provisional(row, now + 2s);
  EXPECT_EQ(row.expires, now + 3s) << "min_hold counts once the waiter has answered";
  row = new_hold(owner(1), 0s, 0s, 1s, {}, now);
  make_provisional(row, now + 2s);
  EXPECT_EQ(row.expires, now + 1s);
}

TEST(SqliteRows, ABrokenHolderStillHoldsAndAReleasedOneDoesNot) {
  LeaseRow row = new_hold(owner(1), 0s, 0s, 0s, {}, now);
  EXPECT_TRUE(row.is_held_by(owner(1)));
  EXPECT_FALSE(row.is_held_by(owner(2)));
  row.state = LeaseRow::State::broken;
  EXPECT_TRUE(row.is_held_by(owner(1)));
  row.state = LeaseRow::State::released;
  EXPECT_FALSE(row.is_held_by(owner(1)));
  EXPECT_TRUE(row.view(now).released);
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

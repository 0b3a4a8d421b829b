#include "core/cleanup_machine.hpp"

#include <gtest/gtest.h>

#include <set>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using enum CleanupAction;

Instant at(Duration time) { return Instant{1h + time}; }
WithdrawReply unknown() { return Failed{errc::outcome_unknown, true, {}}; }

TEST(Cleanup, AsksAtOnceAndEndsWithAnyAnswer) {
  for (const WithdrawReply& answer : {WithdrawReply{Released{}}, WithdrawReply{NotOwner{}}}) {
    CleanupMachine machine{at(30s), 1};
    EXPECT_EQ(machine.start({}, at(0s)), withdraw);
    EXPECT_FALSE(machine.next_timer());
    EXPECT_EQ(machine.on_reply(answer, at(1s)), end);
  }
}

TEST(Cleanup, EndsWhereTryingAgainIsHopeless) {
  CleanupMachine machine{at(30s), 1};
  machine.start({}, at(0s));
  EXPECT_EQ(machine.on_reply(Failed{errc::access_denied, false, {}}, at(1s)), end);
}

TEST(Cleanup, TriesAgainWithinASecondUntilTimeHasEndedIt) {
  CleanupMachine machine{at(30s), 1};
  Instant now = at(0s);
  CleanupAction action = machine.start({}, now);
  while (action == withdraw) {
    action = machine.on_reply(unknown(), now);
    if (action == end) {
      break;
    }
    ASSERT_EQ(action, wait);
    const Instant next = machine.next_timer().value();
    EXPECT_GT(next, now);
    EXPECT_LE(next, now + 1s);
    EXPECT_EQ(machine.on_timer(next - 1ns), wait);
    now = next;
    action = machine.on_timer(now);
  }
  EXPECT_EQ(action, end);
  EXPECT_GE(now, at(30s));
  EXPECT_LT(now, at(32s));
}

TEST(Cleanup, CanBePutOff) {
  CleanupMachine machine{at(60s), 1};
  EXPECT_EQ(machine.start(at(10s), at(0s)), wait);
  EXPECT_EQ(machine.next_timer(), at(10s));
  EXPECT_EQ(machine.on_timer(at(9s)), wait);
  EXPECT_EQ(machine.on_timer(at(10s)), withdraw);
  EXPECT_EQ(machine.on_timer(at(11s)), wait) << "one at a time";
}

TEST(Cleanup, HurriesWhatWasPutOffOnly) {
  CleanupMachine machine{at(60s), 1};
  machine.start(at(10s), at(0s));
  EXPECT_EQ(machine.hurry(at(1s)), withdraw);
  EXPECT_EQ(machine.hurry(at(2s)), wait) << "it is on its way";
}

TEST(Backoffs, DoubleAreBoundedAndReset) {
  Backoff backoff{42};
  Duration full = 50ms;
  for (int i = 0; i < 12; ++i) {
    const Duration pause = backoff.next();
    EXPECT_LE(pause, full);
    EXPECT_GT(pause, full / 2);
    full = std::min<Duration>(full * 2, 800ms);
  }
  backoff.reset();
  EXPECT_LE(backoff.next(), 50ms);
}

TEST(Backoffs, OfClientsThatFailedTogetherDiffer) {
  std::set<Duration> pauses;
  for (std::uint64_t client = 0; client < 64; ++client) {
    Backoff backoff{client * 0x9e3779b97f4a7c15U};
    pauses.insert(backoff.next());
  }
  EXPECT_GE(pauses.size(), 6U);
}

}  // namespace
}  // namespace holdfast

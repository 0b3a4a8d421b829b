// Grants, waiting and hand-off.
#include "tests/unit/acquire_machine_test.hpp"

namespace holdfast::acquire_test {
namespace {

// ---- granted -----------------------------------------------------------------------------------

TEST_F(Acquire, TrustCountsFromTheSending) {
  wait();
  EXPECT_EQ(start(10ms), ask_and_queue);
  EXPECT_EQ(reply(granted(), 1s), finish);
  const AcquireResult& result = machine_->result();
  EXPECT_FALSE(result.code);
  EXPECT_EQ(result.fence, Fence{6});
  EXPECT_EQ(result.floor, Fence{6});
  EXPECT_EQ(result.ttl, 30s);
  EXPECT_EQ(result.sent, at(10ms));
  EXPECT_EQ(result.trusted_until, at(10ms) + 30s - default_margin(30s));
  EXPECT_FALSE(result.provisional);
  EXPECT_FALSE(result.tombstone);
  EXPECT_FALSE(result.holder);
  EXPECT_TRUE(machine_->finished());
  EXPECT_FALSE(machine_->next_timer());
  EXPECT_FALSE(machine_->clean_up());
}

TEST_F(Acquire, TheTtlThatCountsIsTheGrantedOne) {
  wait();
  start();
  reply(granted(6, 10s), 0s);
  EXPECT_EQ(machine_->result().trusted_until, at(10s) - default_margin(10s));
}

TEST_F(Acquire, ASafetyMarginOfOnesOwn) {
  wait({}, 30s, 7s);
  start();
  reply(granted(), 0s);
  EXPECT_EQ(machine_->result().trusted_until, at(23s));
}

TEST_F(Acquire, AGrantThatComesTooLateProvesNothing) {
  wait({}, 100ms);
  start();
  EXPECT_EQ(reply(granted(6, 100ms), 95ms), AcquireAction::wait);
  EXPECT_FALSE(machine_->finished());
  ASSERT_TRUE(timer());
  EXPECT_EQ(machine_->on_timer(at(*timer())), ask_and_queue) << "asking again refreshes the TTL";
  EXPECT_EQ(reply(granted(6, 100ms), 200ms), finish);
  EXPECT_FALSE(code());
}

TEST_F(Acquire, OneAttemptGrantedTooLateIsUnknownAndWithdrawn) {
  wait(0s, 100ms);
  EXPECT_EQ(start(), ask);
  EXPECT_EQ(reply(granted(6, 100ms), 95ms), finish);
  EXPECT_EQ(code(), errc::outcome_unknown);
  expect_clean_up(false);
}

TEST_F(Acquire, AfterAnUnansweredAskTheReleaseMustLeaveATombstone) {
  wait();
  start();
  EXPECT_EQ(reply(silence(), 2s), AcquireAction::wait);
  machine_->on_timer(at(*timer()));
  EXPECT_EQ(reply(granted(), 3s), finish);
  EXPECT_TRUE(machine_->result().tombstone);
}

TEST_F(Acquire, AReplyToAnOlderAskIsNoReply) {
  wait();
  start();
  const auto old = machine_->ask_id();
  reply(refusal(), 10ms);
  machine_->on_timer(at(*timer()));
  EXPECT_EQ(machine_->on_reply(old, granted(), at(200ms)), AcquireAction::wait);
  EXPECT_FALSE(machine_->finished());
  EXPECT_EQ(reply(granted(), 210ms), finish);
}

TEST_F(Acquire, AReplyTwiceCountsOnce) {
  wait();
  start();
  reply(queued(), 10ms);
  EXPECT_EQ(reply(granted(), 20ms), AcquireAction::wait) << "nothing was asked";
}

TEST_F(Acquire, AfterTheEndNothingCounts) {
  wait();
  start();
  EXPECT_EQ(machine_->cancel(at(1s)), finish);
  EXPECT_EQ(reply(granted(), 2s), finish);
  EXPECT_EQ(machine_->on_handed_off(handed(), at(2s)), finish);
  EXPECT_EQ(machine_->on_hint(at(2s)), finish);
  EXPECT_EQ(machine_->on_timer(at(2s)), finish);
  EXPECT_EQ(machine_->cancel(at(2s), errc::closed), finish);
  EXPECT_EQ(code(), errc::cancelled);
}

// ---- one attempt -------------------------------------------------------------------------------

TEST_F(Acquire, OneAttemptEndsWithItsAnswer) {
  wait(0s);
  EXPECT_EQ(start(), ask) << "no place in the queue for one attempt";
  EXPECT_FALSE(timer()) << "the store answers within its op_timeout";
  EXPECT_EQ(reply(busy(), 1ms), finish);
  EXPECT_EQ(code(), errc::busy);
  ASSERT_TRUE(machine_->result().holder);
  EXPECT_EQ(machine_->result().holder->fence, Fence{5});
  EXPECT_FALSE(machine_->clean_up());
}

TEST_F(Acquire, OneAttemptThatFailsIsWithdrawnIfItMayHaveHadEffect) {
  wait(0s);
  start();
  EXPECT_EQ(reply(silence(), op_timeout), finish);
  EXPECT_EQ(code(), errc::outcome_unknown);
  EXPECT_EQ(machine_->result().detail, "no answer in 2s");
  expect_clean_up(true);
  wait(0s);
  start();
  EXPECT_EQ(reply(refusal(), 1ms), finish);
  EXPECT_EQ(code(), errc::store_unavailable);
  EXPECT_FALSE(machine_->clean_up());
}

TEST_F(Acquire, ADeadlineInThePastIsOneAttempt) {
  wait(1s);
  EXPECT_EQ(start(2s), ask);
  EXPECT_EQ(machine_->on_timer(at(3s)), AcquireAction::wait);
  EXPECT_EQ(reply(granted(), 3s), finish);
  EXPECT_FALSE(code());
}

// ---- waiting -----------------------------------------------------------------------------------

TEST_F(Acquire, BusyOnALaneGoesOnInTheQueueAtOnce) {
  wait(10s);
  EXPECT_EQ(machine_->start(ask, at(0s)), ask);
  EXPECT_EQ(reply(busy(), 1ms), ask_and_queue);
  EXPECT_EQ(reply(queued(), 2ms), AcquireAction::wait);
}

TEST_F(Acquire, BeatsEveryThirdOfItsLiveness) {
  wait();
  EXPECT_EQ(machine_->claim().liveness, 5s);
  start();
  reply(queued(), 100ms);
  EXPECT_EQ(timer(), Duration{5s} / 3) << "from the sending of the last";
  EXPECT_EQ(machine_->on_timer(at(1s)), AcquireAction::wait);
  EXPECT_EQ(machine_->on_timer(at(Duration{5s} / 3)), ask_and_queue);
  EXPECT_FALSE(timer()) << "one at a time";
}

TEST_F(Acquire, AShortTtlIsItsLiveness) {
  wait({}, 300ms);
  EXPECT_EQ(machine_->claim().liveness, 300ms);
  start();
  reply(queued(), 10ms);
  EXPECT_EQ(timer(), 100ms);
}

TEST_F(Acquire, LooksAgainWhenTheRecordEnds) {
  wait();
  start();
  reply(queued(700ms), 100ms);
  EXPECT_EQ(timer(), 800ms);
  machine_->on_timer(at(800ms));
  reply(queued(0ms), 810ms);
  EXPECT_EQ(timer(), 815ms) << "a little later, not in a loop";
}

TEST_F(Acquire, NeverLooksAwayForLongerThanTwoSeconds) {
  wait();
  machine_->start(ask_and_queue, at(0s));
  reply(busy(1h), 100ms);  // a store without a queue
  EXPECT_EQ(timer(), 2100ms);
}

TEST_F(Acquire, AHintAsksAtOnce) {
  wait();
  start();
  reply(queued(), 100ms);
  EXPECT_EQ(machine_->on_hint(at(200ms)), ask_and_queue);
}

TEST_F(Acquire, AHintDuringAnAskAsksOnceMore) {
  wait();
  start();
  EXPECT_EQ(machine_->on_hint(at(10ms)), AcquireAction::wait);
  EXPECT_EQ(machine_->on_hint(at(20ms)), AcquireAction::wait);
  EXPECT_EQ(reply(queued(), 30ms), ask_and_queue);
  EXPECT_EQ(reply(queued(), 40ms), AcquireAction::wait);
}

TEST_F(Acquire, AHintDuringAnAskOfAStoreWithoutAQueue) {
  wait();
  start();
  machine_->on_hint(at(10ms));
  EXPECT_EQ(reply(busy(), 30ms), ask_and_queue);
}

TEST_F(Acquire, TransientFailuresAreTriedAgainWithMorePatience) {
  wait();
  start();
  Duration now{};
  Duration longest{};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(reply(refusal(), now), AcquireAction::wait);
    const Duration pause = *timer() - now;
    EXPECT_GE(pause, 25ms);
    EXPECT_LE(pause, 800ms);
    longest = std::max(longest, pause);
    now = *timer();
    EXPECT_EQ(machine_->on_timer(at(now)), ask_and_queue);
  }
  EXPECT_GE(longest, 400ms);
}

TEST_F(Acquire, PermanentFailuresEndTheWait) {
  for (const errc why : {errc::access_denied, errc::format_too_new, errc::storage_unsafe}) {
    wait(10s);
    start();
    EXPECT_EQ(reply(Failed{why, false, "why"}, 1ms), finish);
    EXPECT_EQ(code(), why);
    EXPECT_EQ(machine_->result().detail, "why");
    EXPECT_FALSE(machine_->clean_up()) << "the store said that it had no effect";
  }
}

TEST_F(Acquire, ARefusalAfterAPlaceInTheQueueLeavesThePlaceToBeGivenBack) {
  wait(10s);
  start();
  reply(queued(), 1ms);
  machine_->on_timer(at(1700ms));
  EXPECT_EQ(reply(Failed{errc::access_denied, false, "why"}, 1701ms), finish);
  expect_clean_up(false);
}

// ---- hand-off ----------------------------------------------------------------------------------

TEST_F(Acquire, AHandOffIsTrustedFromTheLastAnsweredBeat) {
  wait();
  start(0s);
  reply(queued(), 100ms);
  machine_->on_timer(at(1700ms));
  reply(queued(), 1800ms);
  EXPECT_EQ(machine_->on_handed_off(handed(), at(2s)), finish);
  const AcquireResult& result = machine_->result();
  EXPECT_FALSE(result.code);
  EXPECT_TRUE(result.provisional);
  EXPECT_EQ(result.sent, at(1700ms));
  EXPECT_EQ(result.trusted_until, at(1700ms) + 5s - default_margin(30s));
  EXPECT_EQ(result.fence, Fence{6});
  EXPECT_FALSE(result.tombstone);
}

TEST_F(Acquire, ABeatOnItsWayDoesNotCountForTrust) {
  wait();
  start(0s);
  reply(queued(), 100ms);
  machine_->on_timer(at(1700ms));  // unanswered
  EXPECT_EQ(machine_->on_handed_off(handed(), at(1800ms)), finish);
  EXPECT_EQ(machine_->result().trusted_until, at(0s) + 5s - default_margin(30s));
  EXPECT_TRUE(machine_->result().tombstone) << "that beat may still arrive";
}

TEST_F(Acquire, AHandOffAfterItsWindowAsksFirst) {
  wait();
  start(0s);
  reply(queued(), 100ms);
  const Duration over = 5s - default_margin(30s);
  EXPECT_EQ(machine_->on_handed_off(handed(), at(over)), ask_and_queue);
  EXPECT_EQ(reply(granted(), over + 10ms), finish);
  EXPECT_FALSE(machine_->result().provisional);
}

TEST_F(Acquire, AHandOffBeforeAnyAnswerAsksFirst) {
  wait();
  start(0s);
  EXPECT_EQ(machine_->on_handed_off(handed(), at(10ms)), AcquireAction::wait);
  EXPECT_EQ(reply(queued(), 20ms), ask_and_queue);
}

TEST_F(Acquire, AHandOffOfAnEarlierGrantIsNotBelieved) {
  // Handed off with fence 6, not noticed, ended; another got fence 7, and we queued again. Only
  // then the message of fence 6 comes through.
  wait();
  start(0s);
  reply(queued(20s, 5), 100ms);
  machine_->on_timer(at(Duration{5s} / 3));
  reply(queued(20s, 7), 2s);
  EXPECT_EQ(machine_->on_handed_off(handed(6), at(2100ms)), ask_and_queue);
  reply(queued(20s, 7), 2200ms);
  EXPECT_EQ(machine_->on_handed_off(handed(7), at(2300ms)), ask_and_queue);
  reply(queued(20s, 7), 2400ms);
  EXPECT_EQ(machine_->on_handed_off(handed(8), at(2500ms)), finish);
  EXPECT_EQ(machine_->result().fence, Fence{8});
}

TEST_F(Acquire, WithoutAHolderThereIsNothingToCompareWith) {
  wait();
  start(0s);
  reply(queued(), 100ms);
  machine_->on_timer(at(Duration{5s} / 3));
  reply(Queued{20s, std::nullopt, Fence::none}, 2s);
  EXPECT_EQ(machine_->on_handed_off(handed(), at(2100ms)), ask_and_queue);
}

TEST_F(Acquire, AHandOffToSomebodyElseIsNotOurs) {
  wait();
  start(0s);
  reply(queued(), 100ms);
  HandedOff other = handed();
  other.owner.bytes[0] = 8;
  EXPECT_EQ(machine_->on_handed_off(other, at(200ms)), AcquireAction::wait);
}

}  // namespace
}  // namespace holdfast::acquire_test

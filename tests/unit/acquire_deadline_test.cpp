// How a wait ends: deadlines and cancelling, and what is left to withdraw.
#include "tests/unit/acquire_machine_test.hpp"

namespace holdfast::acquire_test {
namespace {

// ---- deadlines ---------------------------------------------------------------------------------

TEST_F(Acquire, TheDeadlineOfAWaitThatIsBusy) {
  wait(1s);
  start();
  reply(queued(), 10ms);
  EXPECT_EQ(timer(), 600ms) << "one more ask shortly before, so that the last word is fresh";
  EXPECT_EQ(machine_->on_timer(at(600ms)), ask_and_queue);
  EXPECT_EQ(timer(), 1s);
  reply(queued(), 610ms);
  EXPECT_EQ(timer(), 1s);
  EXPECT_EQ(machine_->on_timer(at(1s)), finish);
  EXPECT_EQ(code(), errc::timed_out);
  EXPECT_TRUE(machine_->result().holder);
  expect_clean_up(false);
}

TEST_F(Acquire, TheDeadlineOfAShortWait) {
  wait(100ms);
  start();
  reply(queued(), 10ms);
  EXPECT_EQ(timer(), 100ms);
  EXPECT_EQ(machine_->on_timer(at(100ms)), finish);
  EXPECT_EQ(code(), errc::timed_out);
}

TEST_F(Acquire, TheDeadlineWithASilentStore) {
  wait(1s);
  start();
  EXPECT_EQ(timer(), 1s) << "the deadline does not wait for op_timeout";
  EXPECT_EQ(machine_->on_timer(at(1s)), finish);
  EXPECT_EQ(code(), errc::outcome_unknown);
  EXPECT_FALSE(machine_->result().detail.empty());
  expect_clean_up(true);
}

TEST_F(Acquire, TheDeadlineWithAStoreThatFellSilent) {
  wait(1s);
  start();
  reply(queued(), 10ms);
  machine_->on_timer(at(600ms));
  EXPECT_EQ(machine_->on_timer(at(1s)), finish);
  EXPECT_EQ(code(), errc::outcome_unknown) << "silent for 400 ms: it did not say busy";
  expect_clean_up(true);
}

TEST_F(Acquire, TheDeadlineWithAnAnswerJustOnItsWay) {
  wait(1s);
  start();
  reply(queued(), 10ms);
  machine_->on_hint(at(900ms));
  EXPECT_EQ(machine_->on_timer(at(1s)), finish);
  EXPECT_EQ(code(), errc::timed_out);
  expect_clean_up(true);
}

TEST_F(Acquire, TheDeadlineWithAStoreThatIsDown) {
  wait(1s);
  start();
  Duration now{};
  while (!machine_->finished()) {
    reply(refusal(), now);
    now = *timer();
    machine_->on_timer(at(now));
  }
  EXPECT_EQ(now, 1s);
  EXPECT_EQ(code(), errc::store_unavailable);
  EXPECT_EQ(machine_->result().detail, "connection refused");
}

TEST_F(Acquire, TheDeadlineDuringARetryNamesTheFailure) {
  wait(1s);
  start();
  reply(refusal(), 900ms);
  machine_->on_timer(at(*timer()));
  EXPECT_EQ(machine_->on_timer(at(1s)), finish);
  EXPECT_EQ(code(), errc::store_unavailable);
  expect_clean_up(true);
}

TEST_F(Acquire, AFailureThatIsOverDoesNotExplainTheEnd) {
  wait(1s);
  start();
  reply(refusal(), 10ms);
  machine_->on_timer(at(*timer()));
  reply(queued(), 200ms);
  machine_->on_timer(at(1s));
  EXPECT_EQ(code(), errc::timed_out);
  EXPECT_EQ(machine_->result().detail, "");
}

TEST_F(Acquire, AReplyAtTheDeadlineStillCounts) {
  wait(1s);
  start();
  EXPECT_EQ(reply(granted(), 1s + 5ms), finish);
  EXPECT_FALSE(code());
}

TEST_F(Acquire, NoDeadlineNoTimerWhileAsking) {
  wait();
  start();
  EXPECT_FALSE(timer());
}

// ---- cancel ------------------------------------------------------------------------------------

TEST_F(Acquire, CancelWhileAsking) {
  wait();
  start();
  EXPECT_EQ(machine_->cancel(at(1ms)), finish);
  EXPECT_EQ(code(), errc::cancelled);
  expect_clean_up(true);
}

TEST_F(Acquire, CancelWhileQueued) {
  wait();
  start();
  reply(queued(), 10ms);
  EXPECT_EQ(machine_->cancel(at(20ms), errc::closed), finish);
  EXPECT_EQ(code(), errc::closed);
  expect_clean_up(false);
}

TEST_F(Acquire, CancelAfterTheGrantChangesNothing) {
  wait();
  start();
  reply(granted(), 10ms);
  EXPECT_EQ(machine_->cancel(at(20ms)), finish);
  EXPECT_FALSE(code());
  EXPECT_FALSE(machine_->clean_up());
}

TEST_F(Acquire, AfterALateGrantSomethingIsLeftToWithdraw) {
  wait({}, 100ms);
  machine_->start(ask, at(0s));
  reply(granted(6, 100ms), 100ms);
  machine_->cancel(at(110ms));
  EXPECT_EQ(code(), errc::cancelled);
  expect_clean_up(false);
}

}  // namespace
}  // namespace holdfast::acquire_test

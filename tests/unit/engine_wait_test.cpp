// The engine's waits and clean-up.
#include "tests/unit/engine_test.hpp"

namespace holdfast::detail {
namespace {

class EngineWait : public EngineTest {};

TEST_F(EngineWait, IsGranted) {
  const Claim a = claim();
  const auto ended = wait(a);
  ASSERT_EQ(asked(Verb::acquire), 1U);
  EXPECT_EQ(oldest().claim().owner, a.owner);
  EXPECT_EQ(oldest().queueing, Store::Queueing::yes);
  EXPECT_EQ(engine_->waiting(), 1U);
  answer_acquire(granted());
  EXPECT_EQ(ended->times, 1);
  EXPECT_FALSE(ended->result.code);
  EXPECT_EQ(ended->result.fence, Fence{6});
  EXPECT_EQ(engine_->waiting(), 0U);
  EXPECT_EQ(asked(Verb::withdraw), 0U);
  EXPECT_EQ(runtime_.timers(), 0U);
}

TEST_F(EngineWait, OneAttemptTakesNoPlace) {
  const auto ended = wait(claim(), 0s);
  EXPECT_EQ(oldest().queueing, Store::Queueing::no);
  answer_acquire(Busy{1s, {}});
  EXPECT_EQ(ended->result.code, errc::busy);
  EXPECT_EQ(engine_->cleaning(), 0U);
}

TEST_F(EngineWait, BeatsUntilItsTurn) {
  const auto ended = wait(claim());
  answer_acquire(queued());
  EXPECT_EQ(asked(Verb::acquire), 0U);
  runtime_.pass(1700ms);
  EXPECT_EQ(asked(Verb::acquire), 1U);
  answer_acquire(queued());
  runtime_.pass(1700ms);
  answer_acquire(granted());
  EXPECT_FALSE(ended->result.code);
}

TEST_F(EngineWait, TellsWhomItWaitsForOnceEach) {
  wait(claim());
  answer_acquire(queued(5));
  for (const int fence : {5, 5, 7, 7}) {
    runtime_.pass(2s);
    answer_acquire(queued(fence));
  }
  EXPECT_EQ(sink_.count(Event::Kind::waiting), 2U);
  EXPECT_EQ(sink_.events.at(1).holder.fence, Fence{7});
}

TEST_F(EngineWait, HandOffEndsIt) {
  const Claim a = claim();
  const auto ended = wait(a);
  answer_acquire(queued());
  tell(HandedOff{a.owner, Fence{6}, Fence{6}});
  EXPECT_EQ(ended->times, 1);
  EXPECT_TRUE(ended->result.provisional);
  tell(HandedOff{a.owner, Fence{6}, Fence{6}});  // doubled
  EXPECT_EQ(ended->times, 1);
}

TEST_F(EngineWait, HintsOfOthersAreIgnored) {
  wait(claim());
  answer_acquire(queued());
  const Claim stranger = claim();
  tell(HandedOff{stranger.owner, Fence{6}, Fence{6}});
  tell(MaybeFree{stranger.owner});
  tell(MarkedBroken{stranger.owner});
  EXPECT_TRUE(store_->asked().empty());
  EXPECT_EQ(engine_->waiting(), 1U);
}

TEST_F(EngineWait, AHintAsksAtOnce) {
  const Claim a = claim();
  wait(a);
  answer_acquire(queued());
  tell(MaybeFree{a.owner});
  EXPECT_EQ(asked(Verb::acquire), 1U);
  tell(MaybeFree{a.owner});
  EXPECT_EQ(asked(Verb::acquire), 1U) << "one at a time";
}

TEST_F(EngineWait, ADoubtReAsksEveryWait) {
  wait(claim());
  answer_acquire(queued());
  wait(claim(30s, "other"));
  answer_acquire(queued());
  tell(Doubt{});
  EXPECT_EQ(asked(Verb::acquire), 2U);
}

TEST_F(EngineWait, ItsDeadlineHoldsThoughTheStoreIsSilent) {
  const Claim a = claim();
  const auto ended = wait(a, 1s);
  runtime_.pass(1s);
  EXPECT_EQ(ended->times, 1);
  EXPECT_EQ(ended->result.code, errc::outcome_unknown);
  ASSERT_EQ(asked(Verb::withdraw), 1U);
  EXPECT_TRUE(store_->asked().back().options.tombstone) << "the acquire may still arrive";
  answer_acquire(granted());  // nobody believes in it any more
  EXPECT_EQ(ended->times, 1);
  answer_withdraw(Released{});
  EXPECT_EQ(engine_->cleaning(), 0U);
}

TEST_F(EngineWait, ItsDeadlineWhileBusyIsATimeout) {
  const auto ended = wait(claim(), 1s);
  answer_acquire(queued());
  runtime_.pass(610ms);
  answer_acquire(queued());
  runtime_.pass(390ms);
  EXPECT_EQ(ended->result.code, errc::timed_out);
  ASSERT_EQ(asked(Verb::withdraw), 1U);
  EXPECT_FALSE(oldest().options.tombstone) << "every ask was answered";
}

TEST_F(EngineWait, CancelWithdraws) {
  const Claim a = claim();
  const auto ended = wait(a);
  engine_->cancel(a.owner);
  EXPECT_EQ(ended->times, 0) << "never from inside the call";
  runtime_.run();
  EXPECT_EQ(ended->times, 1);
  EXPECT_EQ(ended->result.code, errc::cancelled);
  EXPECT_EQ(asked(Verb::withdraw), 1U);
  engine_->cancel(a.owner);
  runtime_.run();
  EXPECT_EQ(ended->times, 1);
}

TEST_F(EngineWait, CancelAfterTheGrantIsTooLate) {
  const Claim a = claim();
  const auto ended = wait(a);
  store_->answer(granted());  // granted; the handler has not run yet
  engine_->cancel(a.owner);
  runtime_.run();
  EXPECT_EQ(ended->times, 1);
  EXPECT_FALSE(ended->result.code);
  EXPECT_EQ(asked(Verb::withdraw), 0U);
}

TEST_F(EngineWait, CleansUpUntilItIsAnswered) {
  const Claim a = claim();
  wait(a);
  engine_->cancel(a.owner);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(asked(Verb::withdraw), 1U) << i;
    answer_withdraw(silence());
    EXPECT_EQ(engine_->cleaning(), 1U);
    runtime_.pass(1s);
  }
  answer_withdraw(NotOwner{});
  EXPECT_EQ(engine_->cleaning(), 0U);
}

TEST_F(EngineWait, GivesUpCleaningWhenTimeHasDoneIt) {
  const Claim a = claim(3s);
  wait(a);
  engine_->cancel(a.owner);
  int tries = 0;
  while (asked(Verb::withdraw) != 0) {
    ++tries;
    answer_withdraw(silence());
    runtime_.pass(1s);
  }
  EXPECT_EQ(engine_->cleaning(), 0U);
  EXPECT_LE(tries, 5);
}

TEST_F(EngineWait, StartedWhileClosingEndsClosed) {
  bool closed = false;
  engine_->close([&] { closed = true; });
  const auto ended = wait(claim());
  EXPECT_EQ(ended->result.code, errc::closed);
  EXPECT_TRUE(closed);
}

TEST_F(EngineWait, ClosingCancelsAndWaitsForTheWithdraw) {
  const auto ended = wait(claim());
  bool closed = false;
  engine_->close([&] { closed = true; });
  runtime_.run();
  EXPECT_EQ(ended->result.code, errc::closed);
  EXPECT_FALSE(closed);
  answer_withdraw(NotOwner{});
  EXPECT_TRUE(closed);
}

TEST_F(EngineWait, ItsEndIsSilentIfTheEngineIsGone) {
  const auto ended = wait(claim());
  answer_acquire(queued());
  wait(claim(30s, "other"));
  engine_.reset();
  runtime_.pass(1h);
  EXPECT_EQ(ended->times, 0);
  EXPECT_EQ(runtime_.timers(), 0U);
}

}  // namespace
}  // namespace holdfast::detail

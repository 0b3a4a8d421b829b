// The engine's watchdog: renewals, batches, loss, release, closing.
#include "tests/unit/engine_test.hpp"

namespace holdfast::detail {
namespace {

class EngineLease : public EngineTest {};

constexpr Duration margin30 = 2030ms;  // of a TTL of 30 s

TEST_F(EngineLease, IsRenewedForEver) {
  const auto lease = hold(claim());
  for (int round = 0; round < 5; ++round) {
    runtime_.pass(10s);
    ASSERT_EQ(asked(Verb::renew), 1U);
    EXPECT_EQ(oldest().claim().ttl, 30s);
    answer_renew(Renewed{30s});
    EXPECT_EQ(lease->trusted(), runtime_.now() + 30s - margin30);
  }
  EXPECT_TRUE(sink_.lost.empty());
  EXPECT_EQ(sink_.count(Event::Kind::renewed), 5U);
}

TEST_F(EngineLease, ALateReplyProvesNothing) {
  const auto lease = hold(claim());
  runtime_.pass(10s);
  runtime_.pass(17s);
  answer_renew(Renewed{30s});
  EXPECT_EQ(lease->trusted(), runtime_.now() - 17s + 30s - margin30) << "from the sending";
}

TEST_F(EngineLease, AFailedTryNeverStopsTheWatchdog) {
  const auto lease = hold(claim());
  runtime_.pass(10s);
  for (int tries = 0; tries < 10; ++tries) {
    ASSERT_EQ(asked(Verb::renew), 1U) << tries;
    answer_renew(refusal());
    runtime_.pass(800ms);
  }
  answer_renew(Renewed{30s});
  EXPECT_TRUE(lease->valid(runtime_.now()));
  EXPECT_EQ(sink_.count(Event::Kind::renewal_failed), 10U);
  runtime_.pass(10s);
  EXPECT_EQ(asked(Verb::renew), 1U);
}

TEST_F(EngineLease, SilenceIsALossInTimeAndOnce) {
  const Instant granted = runtime_.now();
  const auto lease = hold(claim());
  runtime_.pass(30s - margin30);
  ASSERT_EQ(sink_.lost.size(), 1U);
  EXPECT_EQ(lease->why.load(), errc::expired);
  EXPECT_FALSE(lease->valid(runtime_.now()));
  EXPECT_EQ(lease->trusted(), granted + 30s - margin30);
  answer_renew(Renewed{30s});  // it does not come back
  runtime_.pass(1h);
  EXPECT_EQ(sink_.lost.size(), 1U);
  EXPECT_EQ(sink_.count(Event::Kind::lost), 1U);
  EXPECT_EQ(engine_->holding(), 0U);
}

TEST_F(EngineLease, AfterItExpiredOneReleaseIsSentOnceTheStoreHasLetGo) {
  hold(claim(30s), {.lock_delay = 5s});
  runtime_.pass(30s + 5s - 1ms);
  EXPECT_EQ(asked(Verb::withdraw), 0U);
  runtime_.pass(1ms);
  ASSERT_EQ(asked(Verb::withdraw), 1U);
  EXPECT_TRUE(store_->asked().back().options.keep_min_hold);
  answer_withdraw(NotOwner{});
  runtime_.pass(1h);
  EXPECT_EQ(asked(Verb::withdraw), 0U);
  EXPECT_EQ(engine_->cleaning(), 0U);
}

TEST_F(EngineLease, GoneIsALossAtOnceWithItsReason) {
  const auto taken = hold(claim());
  const auto broken = hold(claim(30s, "other"));
  runtime_.pass(10s);
  answer(std::vector<RenewReply>{Gone{GoneReason::taken}, Gone{GoneReason::broken}});
  ASSERT_EQ(sink_.lost.size(), 2U);
  EXPECT_EQ(taken->why.load(), errc::taken);
  EXPECT_EQ(broken->why.load(), errc::broken);
  EXPECT_EQ(sink_.count(Event::Kind::renewed), 0U);
  runtime_.pass(1h);
  EXPECT_TRUE(store_->asked().empty()) << "nothing is left to withdraw";
}

TEST_F(EngineLease, NeverLostAfterARelease) {
  const auto lease = hold(claim());
  ASSERT_TRUE(lease->leave_held(LeasePhase::released));  // elsewhere; the news is not here yet
  runtime_.pass(1h);
  EXPECT_TRUE(sink_.lost.empty());
  EXPECT_EQ(sink_.count(Event::Kind::lost), 0U);
  EXPECT_EQ(engine_->holding(), 0U);
  EXPECT_EQ(asked(Verb::renew), 0U) << "and nothing is renewed";
}

TEST_F(EngineLease, ARenewalOnItsWayAtTheReleaseIsNoNews) {
  const auto lease = hold(claim());
  runtime_.pass(10s);
  engine_->forget(lease->claim.owner);
  answer_renew(Gone{GoneReason::taken});
  EXPECT_TRUE(sink_.lost.empty());
  runtime_.pass(1h);
  EXPECT_EQ(runtime_.timers(), 0U) << "an idle client sleeps";
}

TEST_F(EngineLease, ReleasedBeforeTheEngineHeardOfIt) {
  const Claim a = claim();
  auto lease = std::make_shared<LeaseState>(a, Fence{9}, Fence{9}, Instant{});
  lease->leave_held(LeasePhase::released);
  engine_->hold(lease, LeaseMachine{{}, {30s, runtime_.now(), runtime_.now() + 20s, false}, 0});
  EXPECT_EQ(engine_->holding(), 0U);
}

TEST_F(EngineLease, AProvisionalLeaseIsConfirmedAtOnce) {
  const Claim a = claim();
  const Instant now = runtime_.now();
  const auto lease = hold(a, {}, LeaseMachine::Grant{30s, now - 1s, now + 2s, true});
  ASSERT_EQ(asked(Verb::renew), 1U);
  answer_renew(Renewed{30s});
  EXPECT_EQ(lease->trusted(), now + 30s - margin30);
}

TEST_F(EngineLease, AProvisionalLeaseThatSomebodyElseGot) {
  const Instant now = runtime_.now();
  hold(claim(), {}, LeaseMachine::Grant{30s, now - 1s, now + 2s, true});
  answer_renew(Gone{GoneReason::taken});
  EXPECT_EQ(sink_.lost.size(), 1U);
}

TEST_F(EngineLease, HeldTooLateIsLostAtOnce) {
  const Instant now = runtime_.now();
  const auto lease = hold(claim(), {}, LeaseMachine::Grant{30s, now - 40s, now - 12s, false});
  EXPECT_EQ(sink_.lost.size(), 1U);
  EXPECT_EQ(lease->why.load(), errc::expired);
}

TEST_F(EngineLease, APauseLongerThanTheTtlIsALoss) {
  const auto lease = hold(claim());
  runtime_.jump(1min);
  EXPECT_EQ(lease->why.load(), errc::expired);
  EXPECT_EQ(asked(Verb::renew), 0U);
}

// ---- batches -----------------------------------------------------------------------------------

TEST_F(EngineLease, RenewalsThatAreDueTogetherShareARequest) {
  for (int i = 0; i < 20; ++i) {
    hold(claim(30s, "name/" + std::to_string(i)));
    runtime_.pass(1ms);
  }
  runtime_.pass(10s);
  ASSERT_EQ(asked(Verb::renew), 1U);
  EXPECT_EQ(oldest().claims.size(), 20U);
}

TEST_F(EngineLease, ABatchDoesNotCountTrustFromTheFuture) {
  const auto early = hold(claim());
  runtime_.pass(15ms);
  const auto late = hold(claim(30s, "other"));
  runtime_.pass(10s - 15ms);
  ASSERT_EQ(asked(Verb::renew), 1U);
  EXPECT_EQ(oldest().claims.size(), 2U);
  const Instant sent = runtime_.now();
  runtime_.pass(5s);
  answer_renew(Renewed{30s});
  EXPECT_EQ(early->trusted(), sent + 30s - margin30);
  EXPECT_EQ(late->trusted(), sent + 30s - margin30);
}

TEST_F(EngineLease, RenewalsThatAreDueApartDoNot) {
  hold(claim());
  runtime_.pass(100ms);
  hold(claim(30s, "other"));
  runtime_.pass(9900ms);
  EXPECT_EQ(asked(Verb::renew), 1U);
  EXPECT_EQ(oldest().claims.size(), 1U);
  runtime_.pass(100ms);
  EXPECT_EQ(asked(Verb::renew), 2U);
}

TEST_F(EngineLease, OneOfABatchMayBeLostAlone) {
  const auto first = hold(claim());
  const auto second = hold(claim(30s, "other"));
  const auto third = hold(claim(30s, "third"));
  runtime_.pass(10s);
  answer(std::vector<RenewReply>{Renewed{30s}, Gone{GoneReason::taken}, silence()});
  EXPECT_TRUE(first->valid(runtime_.now()));
  EXPECT_FALSE(second->valid(runtime_.now()));
  EXPECT_TRUE(third->valid(runtime_.now()));
  runtime_.pass(1s);
  ASSERT_EQ(asked(Verb::renew), 1U);
  EXPECT_EQ(oldest().claim().name, "third");
}

// ---- what the store and guards tell -----------------------------------------------------------

TEST_F(EngineLease, ADoubtVerifiesEveryLeaseAtOnce) {
  hold(claim());
  hold(claim(30s, "other"));
  tell(Doubt{});
  ASSERT_EQ(asked(Verb::renew), 1U);
  EXPECT_EQ(oldest().claims.size(), 2U);
}

TEST_F(EngineLease, ADoubtCoversALeaseWhoseNewsIsStillOnItsWay) {
  auto lease = std::make_shared<LeaseState>(claim(), Fence{9}, Fence{9}, runtime_.now() + 20s);
  const LeaseMachine::Grant grant{30s, runtime_.now(), runtime_.now() + 20s, false};
  runtime_.post_by(Instant::max(), [&] { engine_->hold(lease, LeaseMachine{{}, grant, 0}); });
  tell(Doubt{});
  EXPECT_EQ(asked(Verb::renew), 1U);
}

TEST_F(EngineLease, ADoubtDuringARenewalAsksOnceMore) {
  hold(claim());
  runtime_.pass(10s);
  tell(Doubt{});
  EXPECT_EQ(asked(Verb::renew), 1U);
  answer_renew(Renewed{30s});
  EXPECT_EQ(asked(Verb::renew), 1U);
  answer_renew(Renewed{30s});
  EXPECT_EQ(asked(Verb::renew), 0U);
}

TEST_F(EngineLease, AFixedLeaseIsVerifiedWithoutMakingItLonger) {
  const auto lease = hold(claim(), {.renew = false});
  const Instant until = lease->trusted();
  runtime_.pass(8s);
  tell(Doubt{});
  ASSERT_EQ(asked(Verb::renew), 1U);
  EXPECT_EQ(oldest().claim().ttl, 22s);
  answer_renew(Renewed{22s});
  EXPECT_EQ(lease->trusted(), until);
  runtime_.pass(10s);
  ASSERT_EQ(asked(Verb::renew), 1U) << "verified every 10 s";
  EXPECT_EQ(oldest().claim().ttl, 12s);
  answer_renew(Renewed{12s});
  EXPECT_EQ(lease->trusted(), until);
}

TEST_F(EngineLease, BrokenIsVerifiedBeforeItIsBelieved) {
  const auto lease = hold(claim());
  tell(MarkedBroken{lease->claim.owner});
  EXPECT_TRUE(sink_.lost.empty());
  answer_renew(Gone{GoneReason::broken});
  ASSERT_EQ(sink_.lost.size(), 1U);
  EXPECT_EQ(lease->why.load(), errc::broken);
  EXPECT_EQ(asked(Verb::withdraw), 0U) << "the holder answers by releasing";
}

TEST_F(EngineLease, AStaleFenceIsALoss) {
  const auto lease = hold(claim());
  engine_->report_stale(lease->claim.owner);
  ASSERT_EQ(sink_.lost.size(), 1U);
  EXPECT_EQ(lease->why.load(), errc::stale_fence);
  engine_->report_stale(lease->claim.owner);
  EXPECT_EQ(sink_.lost.size(), 1U);
}

// ---- release and closing -----------------------------------------------------------------------

TEST_F(EngineLease, Releases) {
  const auto lease = hold(claim());
  lease->leave_held(LeasePhase::released);
  std::optional<std::error_code> answered;
  engine_->release(lease, [&](std::error_code code) { answered = code; });
  EXPECT_EQ(engine_->holding(), 0U);
  ASSERT_EQ(asked(Verb::withdraw), 1U);
  EXPECT_TRUE(oldest().options.keep_min_hold);
  EXPECT_FALSE(oldest().options.tombstone);
  answer_withdraw(Released{});
  EXPECT_EQ(answered, std::error_code{});
  EXPECT_EQ(sink_.count(Event::Kind::released), 1U);
}

TEST_F(EngineLease, AReleaseThatWasNotOurs) {
  const auto lease = hold(claim());
  std::optional<std::error_code> answered;
  engine_->release(lease, [&](std::error_code code) { answered = code; });
  answer_withdraw(NotOwner{});
  EXPECT_EQ(answered, errc::not_owner);
  EXPECT_EQ(engine_->cleaning(), 0U);
}

TEST_F(EngineLease, AnUnansweredReleaseGoesOnInTheBackground) {
  const auto lease = hold(claim());
  std::optional<std::error_code> answered;
  engine_->release(lease, [&](std::error_code code) { answered = code; });
  answer_withdraw(silence());
  EXPECT_EQ(answered, errc::outcome_unknown);
  EXPECT_EQ(engine_->cleaning(), 1U);
  ASSERT_EQ(asked(Verb::withdraw), 1U);
  EXPECT_TRUE(oldest().options.keep_min_hold);
  answer_withdraw(Released{});
  EXPECT_EQ(engine_->cleaning(), 0U);
}

TEST_F(EngineLease, ALeaseOfAnUnansweredAskLeavesATombstone) {
  const auto lease = hold(claim());
  lease->tombstone = true;
  engine_->release(lease, [](std::error_code) {});
  EXPECT_TRUE(oldest().options.tombstone);
}

TEST_F(EngineLease, ClosingReleasesWhatIsHeld) {
  const auto lease = hold(claim());
  hold(claim(30s, "other"));
  bool closed = false;
  engine_->close([&] { closed = true; });
  runtime_.run();
  EXPECT_EQ(asked(Verb::withdraw), 2U);
  EXPECT_FALSE(lease->valid(runtime_.now()));
  answer_withdraw(Released{});
  EXPECT_FALSE(closed);
  answer_withdraw(Released{});
  EXPECT_TRUE(closed);
  EXPECT_TRUE(sink_.lost.empty());
}

TEST_F(EngineLease, ClosingHurriesWhatWasPutOff) {
  hold(claim());
  runtime_.pass(28s);
  ASSERT_EQ(sink_.lost.size(), 1U);
  EXPECT_EQ(asked(Verb::withdraw), 0U);
  bool closed = false;
  engine_->close([&] { closed = true; });
  runtime_.run();
  ASSERT_EQ(asked(Verb::withdraw), 1U);
  answer_withdraw(Released{});
  EXPECT_TRUE(closed);
}

TEST_F(EngineLease, HeldWhileClosingIsGivenBack) {
  bool closed = false;
  engine_->close([&] { closed = true; });
  const auto lease = hold(claim());
  EXPECT_TRUE(closed);
  EXPECT_FALSE(lease->valid(runtime_.now()));
  EXPECT_EQ(asked(Verb::withdraw), 1U);
}

TEST_F(EngineLease, WhatTheStoreTellsAfterTheEndIsNoNews) {
  hold(claim());
  store_->tell(Doubt{});
  engine_.reset();
  runtime_.pass(1h);
  EXPECT_TRUE(sink_.lost.empty());
  EXPECT_EQ(runtime_.timers(), 0U);
}

}  // namespace
}  // namespace holdfast::detail

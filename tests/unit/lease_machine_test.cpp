#include "core/lease_machine.hpp"

#include "core/trust.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using enum LeaseAction;

Instant at(Duration time) { return Instant{1h + time}; }

RenewReply renewed(Duration ttl = 30s) { return Renewed{ttl}; }
RenewReply gone(GoneReason reason) { return Gone{reason}; }
RenewReply failed() { return Failed{errc::outcome_unknown, true, "no answer"}; }

// What is taken off the end of trust, so that the holder hears in time.
Duration notice(Duration margin) { return std::min<Duration>(25ms, margin / 4); }

class Watchdog : public ::testing::Test {
 protected:
  void hold(const LeaseOptions& options, Duration sent = 0s) {
    options_ = options;
    margin_ = margin_of(options, options.ttl);
    const Duration ttl = options.max_hold ? std::min(options.ttl, *options.max_hold) : options.ttl;
    machine_.emplace(options,
                     LeaseMachine::Grant{ttl, at(sent), trusted_until(at(sent), ttl, margin_)}, 7);
  }
  void hold_provisionally(const LeaseOptions& options, Duration until) {
    options_ = options;
    margin_ = margin_of(options, options.ttl);
    machine_.emplace(options, LeaseMachine::Grant{options.ttl, at(0s), at(until), true}, 7);
  }
  Duration trust() const { return machine_->trusted_until() - at(0s); }
  Duration timer() const { return machine_->next_timer().value() - at(0s); }
  LeaseAction tick(Duration now) { return machine_->on_timer(at(now)); }
  LeaseAction reply(const RenewReply& reply, Duration now) {
    return machine_->on_reply(reply, at(now));
  }

  LeaseOptions options_{};
  Duration margin_{};
  std::optional<LeaseMachine> machine_{};
};

TEST_F(Watchdog, RenewsAtAThirdOfTheTtlAtMostTenSeconds) {
  hold({.ttl = 9s});
  EXPECT_EQ(machine_->start(at(1ms)), wait);
  EXPECT_EQ(timer(), 3s);
  EXPECT_EQ(tick(2999ms), wait);
  EXPECT_EQ(tick(3s), renew);
  EXPECT_EQ(machine_->renew_ttl(), 9s);
  hold({.ttl = 2min});
  EXPECT_EQ(timer(), 10s);
}

TEST_F(Watchdog, TrustMovesOnFromTheSendingOfTheRenewal) {
  hold({.ttl = 9s});
  tick(3s);
  EXPECT_EQ(trust(), 9s - margin_) << "not by sending";
  EXPECT_EQ(reply(renewed(9s), 5s), wait);
  EXPECT_EQ(trust(), 12s - margin_);
  EXPECT_EQ(timer(), 6s);
  EXPECT_EQ(machine_->expires(), at(12s));
}

TEST_F(Watchdog, TheTtlThatCountsIsTheOneThatTheStoreSays) {
  hold({.ttl = 9s});
  tick(3s);
  reply(renewed(5s), 3s);
  EXPECT_EQ(trust(), 8s - margin_);
}

TEST_F(Watchdog, AReplyToNothingIsIgnored) {
  hold({.ttl = 9s});
  EXPECT_EQ(reply(renewed(1h), 1s), wait);
  EXPECT_EQ(trust(), 9s - margin_);
  EXPECT_EQ(reply(gone(GoneReason::taken), 1s), wait);
  EXPECT_FALSE(machine_->lost());
}

TEST_F(Watchdog, GoneIsLostAtOnce) {
  hold({.ttl = 9s});
  tick(3s);
  EXPECT_EQ(reply(gone(GoneReason::taken), 3s), lose);
  EXPECT_EQ(machine_->why(), errc::taken);
  hold({.ttl = 9s});
  tick(3s);
  EXPECT_EQ(reply(gone(GoneReason::broken), 3s), lose);
  EXPECT_EQ(machine_->why(), errc::broken);
}

TEST_F(Watchdog, LosesOnceAndForEver) {
  hold({.ttl = 9s});
  tick(3s);
  EXPECT_EQ(reply(gone(GoneReason::taken), 3s), lose);
  EXPECT_EQ(reply(renewed(), 3s), wait);
  EXPECT_EQ(tick(1h), wait);
  EXPECT_EQ(machine_->verify(at(4s)), wait);
  EXPECT_EQ(machine_->stale(), wait);
  EXPECT_EQ(machine_->why(), errc::taken);
  EXPECT_FALSE(machine_->next_timer());
}

TEST_F(Watchdog, AFailedTryNeverStopsIt) {
  hold({.ttl = 9s});
  Duration now = 3s;
  int tries = 0;
  EXPECT_EQ(tick(now), renew);
  for (;;) {
    ++tries;
    EXPECT_EQ(reply(failed(), now), wait);
    const Duration pause = timer() - now;
    EXPECT_GT(pause, 0s);
    EXPECT_LE(pause, 800ms);
    now = timer();
    const LeaseAction action = tick(now);
    if (action == lose) {
      break;
    }
    EXPECT_EQ(action, renew);
  }
  EXPECT_GT(tries, 8);
  EXPECT_LT(tries, 60);
  EXPECT_EQ(machine_->why(), errc::expired);
  EXPECT_EQ(now, 9s - margin_ - notice(margin_));
}

TEST_F(Watchdog, ATryAfterFailuresCountsInFull) {
  hold({.ttl = 9s});
  tick(3s);
  reply(failed(), 5s);
  const Duration again = timer();
  EXPECT_EQ(tick(again), renew);
  reply(renewed(9s), again + 1ms);
  EXPECT_EQ(trust(), again + 9s - margin_);
  EXPECT_EQ(timer(), again + 3s) << "back to its pace";
}

TEST_F(Watchdog, SilenceEndsTrustWhateverIsInFlight) {
  hold({.ttl = 9s});
  tick(3s);
  const Duration end = 9s - margin_ - notice(margin_);
  EXPECT_EQ(timer(), end);
  EXPECT_EQ(tick(end - 1ns), wait);
  EXPECT_EQ(tick(end), lose);
  EXPECT_EQ(machine_->why(), errc::expired);
  EXPECT_LE(end, trust());
}

TEST_F(Watchdog, ALateReplyProvesOnlyItsOwnWindow) {
  hold({.ttl = 9s});
  tick(3s);
  // Paused; the timer did not run. The reply's window, from 3 s, is over as well.
  EXPECT_EQ(reply(renewed(9s), 13s), lose);
  EXPECT_EQ(machine_->why(), errc::expired);
  hold({.ttl = 9s});
  tick(3s);
  EXPECT_EQ(reply(renewed(9s), 9s), renew) << "within it, the lease lives; the next one is due";
  EXPECT_EQ(trust(), 12s - margin_);
}

TEST_F(Watchdog, StartedTooLateItLosesAtOnce) {
  hold({.ttl = 100ms});
  EXPECT_EQ(machine_->start(at(95ms)), lose);
  EXPECT_EQ(machine_->why(), errc::expired);
}

TEST_F(Watchdog, AZeroMarginIsTrustedToTheEnd) {
  hold({.ttl = 9s, .safety_margin = 0s});
  EXPECT_EQ(trust(), 9s);
  EXPECT_EQ(tick(9s - 1ns), renew);
  EXPECT_EQ(tick(9s), lose);
}

// ---- batching ----------------------------------------------------------------------------------

TEST_F(Watchdog, MayRenewALittleAhead) {
  hold({.ttl = 9s});
  EXPECT_EQ(machine_->on_timer(at(2979ms), 20ms), wait);
  EXPECT_EQ(machine_->on_timer(at(2980ms), 20ms), renew);
  reply(renewed(9s), 2990ms);
  EXPECT_EQ(trust(), 2980ms + 9s - margin_) << "trust counts from now, never from the future";
}

TEST_F(Watchdog, NeverLosesAhead) {
  hold({.ttl = 9s, .renew = false});
  const Duration just_before = 9s - margin_ - notice(margin_) - 1ms;
  EXPECT_EQ(machine_->on_timer(at(just_before), 20ms), renew) << "it has to be verified";
  EXPECT_EQ(machine_->on_timer(at(just_before), 20ms), wait);
}

// ---- provisional -------------------------------------------------------------------------------

TEST_F(Watchdog, AProvisionalLeaseIsRenewedAtOnce) {
  hold_provisionally({.ttl = 30s}, 3s);
  EXPECT_EQ(machine_->start(at(1s)), renew);
  EXPECT_EQ(trust(), 3s);
  EXPECT_EQ(reply(renewed(30s), 1100ms), wait);
  EXPECT_EQ(trust(), 31s - margin_);
  EXPECT_EQ(timer(), 11s);
}

TEST_F(Watchdog, AProvisionalLeaseThatIsNeverConfirmedIsLost) {
  hold_provisionally({.ttl = 30s}, 3s);
  machine_->start(at(1s));
  EXPECT_EQ(timer(), 3s - notice(margin_));
  EXPECT_EQ(reply(failed(), 2s), wait);
  EXPECT_LT(timer(), 3s);
  EXPECT_EQ(tick(timer()), renew) << "tried again inside what is left";
  EXPECT_EQ(tick(3s), lose);
  EXPECT_EQ(machine_->why(), errc::expired);
}

// ---- fixed leases ------------------------------------------------------------------------------

TEST_F(Watchdog, AFixedLeaseIsVerifiedAndNeverMadeLonger) {
  hold({.ttl = 9s, .renew = false});
  EXPECT_EQ(machine_->start(at(0s)), wait);
  for (const Duration now : {3s, 6s}) {
    EXPECT_EQ(timer(), now);
    EXPECT_EQ(tick(now), renew);
    EXPECT_EQ(machine_->renew_ttl(), 9s - now) << "what is left of it";
    EXPECT_EQ(reply(renewed(9s - now), now), wait);
    EXPECT_EQ(trust(), 9s - margin_);
  }
  EXPECT_EQ(timer(), 9s - margin_ - notice(margin_));
  EXPECT_EQ(tick(timer()), lose);
  EXPECT_EQ(machine_->why(), errc::expired);
}

TEST_F(Watchdog, VerifyingAFixedLeaseDoesNotMakeItLonger) {
  hold({.ttl = 9s, .renew = false});
  EXPECT_EQ(machine_->verify(at(4s)), renew);
  EXPECT_EQ(machine_->renew_ttl(), 5s) << "what is left of it";
  EXPECT_EQ(reply(renewed(5s), 4100ms), wait);
  EXPECT_EQ(trust(), 9s - margin_);
  EXPECT_EQ(timer(), 7s) << "verified again";
  EXPECT_EQ(tick(9s), lose);
  EXPECT_EQ(machine_->why(), errc::expired);
}

TEST_F(Watchdog, AFixedLeaseLearnsThatItIsGone) {
  hold({.ttl = 9s, .renew = false});
  machine_->verify(at(4s));
  EXPECT_EQ(reply(gone(GoneReason::taken), 4100ms), lose);
}

TEST_F(Watchdog, AFixedLeaseThatCouldNotBeVerifiedEndsOnTime) {
  hold({.ttl = 9s, .renew = false});
  Duration now = 4s;
  EXPECT_EQ(machine_->verify(at(now)), renew);
  while (reply(failed(), now) == wait) {
    now = timer();
    if (tick(now) == lose) {
      break;
    }
  }
  EXPECT_EQ(now, 9s - margin_ - notice(margin_));
  EXPECT_EQ(machine_->why(), errc::expired);
}

TEST_F(Watchdog, AFixedLeaseThatWasHandedOffLastsOneTtlFromItsConfirmation) {
  hold_provisionally({.ttl = 30s, .renew = false}, 3s);
  EXPECT_EQ(machine_->start(at(1s)), renew);
  EXPECT_EQ(machine_->renew_ttl(), 30s);
  reply(renewed(30s), 1100ms);
  EXPECT_EQ(trust(), 31s - margin_);
  machine_->verify(at(11s));
  EXPECT_EQ(machine_->renew_ttl(), 20s);
  reply(renewed(20s), 11s);
  EXPECT_EQ(trust(), 31s - margin_);
}

// ---- max_hold ----------------------------------------------------------------------------------

TEST_F(Watchdog, MaxHoldIsTheEnd) {
  hold({.ttl = 9s, .max_hold = 20s});
  for (Duration now = 3s; now < 15s; now += 3s) {
    ASSERT_EQ(tick(now), renew);
    ASSERT_EQ(reply(renewed(std::min<Duration>(9s, 20s - now)), now), wait);
    EXPECT_EQ(trust(), std::min(now + 9s, Duration{20s}) - margin_);
  }
  EXPECT_EQ(tick(20s - margin_), lose);
  EXPECT_EQ(machine_->why(), errc::max_hold);
}

TEST_F(Watchdog, AStoreThatForgotMaxHoldDoesNotMove) {
  hold({.ttl = 9s, .max_hold = 10s});
  tick(3s);
  reply(renewed(9s), 3s);
  EXPECT_EQ(trust(), 10s - margin_);
}

TEST_F(Watchdog, MaxHoldBelowTheTtl) {
  hold({.ttl = 30s, .max_hold = 10s});
  EXPECT_EQ(trust(), 10s - margin_);
  EXPECT_EQ(tick(10s), lose);
  EXPECT_EQ(machine_->why(), errc::max_hold);
}

TEST_F(Watchdog, MaxHoldThatCountsFromAnEarlierGrant) {
  // The first ask was executed at 0 s and its answer lost; the grant that we have was sent at 6 s.
  hold({.ttl = 9s, .max_hold = 20s}, 6s);
  EXPECT_EQ(tick(9s), renew);
  reply(renewed(9s), 9s);
  EXPECT_EQ(tick(12s), renew);
  reply(renewed(8s), 12s);  // the store's bound is 20 s, not 26 s
  EXPECT_EQ(trust(), 20s - margin_);
  EXPECT_EQ(tick(20s - margin_), lose);
  EXPECT_EQ(machine_->why(), errc::max_hold);
}

TEST_F(Watchdog, SilenceUnderMaxHoldIsStillSilence) {
  hold({.ttl = 9s, .max_hold = 60s});
  EXPECT_EQ(tick(9s), lose);
  EXPECT_EQ(machine_->why(), errc::expired);
}

// ---- doubt, guards -----------------------------------------------------------------------------

TEST_F(Watchdog, ADoubtIsAnsweredAtOnce) {
  hold({.ttl = 9s});
  EXPECT_EQ(machine_->verify(at(1s)), renew);
  EXPECT_EQ(reply(renewed(9s), 1s), wait);
  EXPECT_EQ(trust(), 10s - margin_);
}

TEST_F(Watchdog, ADoubtDuringARenewalAsksOnceMore) {
  hold({.ttl = 9s});
  tick(3s);
  EXPECT_EQ(machine_->verify(at(3s)), wait);
  EXPECT_EQ(machine_->verify(at(3s)), wait);
  EXPECT_EQ(reply(renewed(9s), 4s), renew);
  EXPECT_EQ(reply(renewed(9s), 5s), wait);
  EXPECT_EQ(trust(), 13s - margin_);
}

TEST_F(Watchdog, AStaleFenceIsALoss) {
  hold({.ttl = 9s});
  EXPECT_EQ(machine_->stale(), lose);
  EXPECT_EQ(machine_->why(), errc::stale_fence);
  EXPECT_EQ(machine_->stale(), wait);
}

TEST_F(Watchdog, ExpiresWithTheLockDelay) {
  hold({.ttl = 9s, .lock_delay = 4s});
  EXPECT_EQ(machine_->expires(), at(13s));
}

}  // namespace
}  // namespace holdfast

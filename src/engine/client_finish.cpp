// ClientCore's end of a run: the mark and the release in one step of the store.
#include "core/cleanup_machine.hpp"
#include "engine/client_core.hpp"

#include <algorithm>
#include <string>

namespace holdfast::detail {

namespace {

ClientCore::Outcome not_done(std::error_code code, const Ask& run, std::string detail) {
  return {Lease{}, code, "run \"" + run.run_id + "\" of \"" + run.name + "\" " + std::move(detail)};
}

constexpr const char* lost_text = "is not marked as done, because the lease was lost meanwhile";

}  // namespace

ClientCore::Outcome ClientCore::finish(Lease lease, const Ask& run, Duration remember) {
  const std::shared_ptr<LeaseState> state = lease.state_;
  if (!state) {
    return {Lease{}, errc::not_owner, "there is no lease"};
  }
  if (state->claim.name != run.name || state->claim.run != HeldClaim::run_mark(run.run_id)) {
    return {Lease{}, errc::invalid_options, "this lease is not of the run that is to be finished"};
  }
  if (!usable()) {
    return not_done(errc::closed, run, "is not ours in a forked child");
  }
  const bool held = state->valid(BootClock::now());
  if (!held || !state->leave_held(LeasePhase::released)) {
    std::error_code why;
    lease.release(why);
    if (!(why == failure::ownership_lost) || why == errc::not_owner) {
      // Its time is over, which the loop has yet to see.
      why = state->stale ? errc::stale_fence : errc::expired;
    }
    return not_done(why, run, lost_text);
  }
  lease.state_.reset();
  forget(state->claim.owner);
  const WithdrawOptions options{
      .keep_min_hold = true, .tombstone = state->tombstone, .remember = remember};
  const Instant give_up_at = std::max(state->trusted(), BootClock::now() + release_max);
  Claim claim = state->claim;
  claim.run_id = run.run_id;
  const WithdrawReply reply = withdraw_until(claim, options, give_up_at);
  Outcome outcome;
  if (const auto* failed = std::get_if<Failed>(&reply)) {
    outcome = not_done(failed->may_have_had_effect ? errc::outcome_unknown : failed->code, run,
                       "may not be marked as done: " + failed->detail);
    on_loop([claim, options](Engine& engine) { engine.clean_up(claim, options); });
  } else if (std::holds_alternative<NotOwner>(reply)) {
    outcome = not_done(errc::not_owner, run, lost_text);
  }
  on_event({.kind = Event::Kind::released,
            .name = state->claim.name,
            .owner = state->claim.owner,
            .fence = state->fence,
            .code = outcome.code,
            .detail = outcome.detail});
  return outcome;
}

// Runs a CleanupMachine on a lane.
WithdrawReply ClientCore::withdraw_until(const Claim& claim, WithdrawOptions options,
                                         Instant give_up_at) {
  const LanePool::Borrowed lane = lanes_.borrow();
  Lane& runtime = lane->runtime();
  CleanupMachine machine{give_up_at, std::hash<OwnerId>{}(claim.owner)};
  const auto answer = std::make_shared<std::optional<WithdrawReply>>();
  const auto rested = std::make_shared<bool>(false);
  bool unanswered = false;
  CleanupAction action = machine.start({}, runtime.now());
  while (action != CleanupAction::end) {
    if (action == CleanupAction::withdraw) {
      answer->reset();
      lane->store().withdraw(claim, options,
                             [answer](WithdrawReply reply) { *answer = std::move(reply); });
      runtime.run_until([&] { return answer->has_value(); });
      const auto* failed = std::get_if<Failed>(&**answer);
      unanswered = unanswered || (failed != nullptr && failed->may_have_had_effect);
      action = machine.on_reply(**answer, runtime.now());
    } else {
      *rested = false;
      runtime.call_at(machine.next_timer().value(), [rested] { *rested = true; });
      runtime.run_until([&] { return *rested; });
      action = machine.on_timer(runtime.now());
    }
  }
  if (auto* failed = std::get_if<Failed>(&**answer)) {
    failed->may_have_had_effect = unanswered;
  }
  return std::move(**answer);
}

}  // namespace holdfast::detail

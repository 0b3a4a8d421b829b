// The engine's watchdog: one timer for all leases, renewals in batches.
#include "engine/engine.hpp"

#include "base/mutation.hpp"
#include "core/trust.hpp"

#include <utility>

namespace holdfast::detail {

namespace {

// A renewal may go out this much before it is due, to share a batch with others.
constexpr Duration batch_window = std::chrono::milliseconds{20};
// What a store sends in one request. A batch and a bit would cost two requests, so the bit waits
// for the next batch unless it is due.
constexpr std::size_t batch_size = 100;

}  // namespace

void Engine::hold(const std::shared_ptr<LeaseState>& lease, const LeaseMachine& watchdog) {
  if (lease->phase.load() != LeasePhase::held) {
    return;  // released before the news of it arrived here
  }
  if (closing_) {
    if (lease->leave_held(LeasePhase::released)) {
      release(lease, [](std::error_code) {});
    }
    return;
  }
  const OwnerId owner = lease->claim.owner;
  Watched& watched = leases_.try_emplace(owner, lease, watchdog).first->second;
  if (watched.state->claim.mode == Mode::shared) {
    count_as_own(*watched.state);
  }
  std::vector<OwnerId> renewals;
  apply(watched, watched.machine.start(runtime_.now()), renewals);
  send_renewals(renewals);
}

void Engine::forget(const OwnerId& owner) {
  if (mutated(Mutation::renewed_after_release)) {
    return;
  }
  const auto found = leases_.find(owner);
  if (found != leases_.end()) {
    unschedule(found->second);
    const LeaseState& lease = *found->second.state;
    if (lease.claim.mode == Mode::shared && lease.thread != no_thread) {
      own_.remove(lease.thread, lease.claim.name, lease.claim.permits);
    }
    leases_.erase(found);
  }
}

void Engine::count_as_own(const LeaseState& lease) {
  if (lease.thread != no_thread) {
    own_.add(lease.thread, lease.claim.name, lease.claim.permits);
  }
}

void Engine::downgraded(const OwnerId& owner) {
  const auto found = leases_.find(owner);
  if (found != leases_.end() && found->second.state->claim.mode == Mode::exclusive) {
    found->second.state->claim.mode = Mode::shared;
    count_as_own(*found->second.state);
  }
}

void Engine::report_stale(const OwnerId& owner) {
  const auto found = leases_.find(owner);
  if (found != leases_.end()) {
    std::vector<OwnerId> renewals;
    apply(found->second, found->second.machine.stale(), renewals);
  }
}

void Engine::verify(const OwnerId& owner, std::vector<OwnerId>& renewals) {
  const auto found = leases_.find(owner);
  if (found != leases_.end()) {
    apply(found->second, found->second.machine.verify(runtime_.now()), renewals);
  }
}

void Engine::verify(const OwnerId& owner) {
  std::vector<OwnerId> renewals;
  verify(owner, renewals);
  send_renewals(renewals);
}

// May end `watched`.
void Engine::apply(Watched& watched, LeaseAction action, std::vector<OwnerId>& renewals) {
  if (watched.state->phase.load() != LeasePhase::held &&
      !mutated(Mutation::renewed_after_release)) {
    forget(watched.state->claim.owner);
    return;
  }
  switch (action) {
    case LeaseAction::wait:
      break;
    case LeaseAction::renew:
      renewals.push_back(watched.state->claim.owner);
      break;
    case LeaseAction::lose:
      lose(watched);
      return;
  }
  watched.state->trusted_until.store(watched.machine.trusted_until().time_since_epoch().count(),
                                     std::memory_order_release);
  schedule(watched);
}

void Engine::lose(Watched& watched) {
  const std::shared_ptr<LeaseState> state = watched.state;
  const errc why = watched.machine.why();
  const Instant expires = watched.machine.expires();
  forget(state->claim.owner);
  state->why.store(why);
  if (!state->leave_held(LeasePhase::lost)) {
    return;  // released in this very moment: not a loss
  }
  emit(Event::Kind::lost, *state, why);
  sink_.on_lost(state);
  if (why == errc::expired || why == errc::max_hold) {
    late_release(*state, expires);
  } else if (why == errc::taken && state->tombstone) {
    // Nothing of ours is there, but an acquire of ours may still arrive.
    clean_up(state->claim, {.keep_min_hold = false, .tombstone = true});
  }
}

// The store has let go by its own clock, or will not; one owner-checked release settles it.
void Engine::late_release(const LeaseState& lease, Instant expires) {
  clean_up(lease.claim, {.keep_min_hold = true, .tombstone = lease.tombstone}, expires);
}

void Engine::schedule(Watched& watched) {
  unschedule(watched);
  if (const auto when = watched.machine.next_timer()) {
    watched.due = *when;
    due_.emplace(*when, watched.state->claim.owner);
  }
  arm_watchdog();
}

void Engine::unschedule(Watched& watched) { due_.erase({watched.due, watched.state->claim.owner}); }

// The timer is moved only forward in time by its own firing: an early one costs one look.
void Engine::arm_watchdog() {
  if (due_.empty() || (watchdog_timer_ != 0 && watchdog_at_ <= due_.begin()->first)) {
    return;
  }
  runtime_.cancel(watchdog_timer_);
  watchdog_at_ = due_.begin()->first;
  watchdog_timer_ = runtime_.call_at(watchdog_at_, [this] {
    watchdog_timer_ = 0;
    on_watchdog();
  });
}

void Engine::on_watchdog() {
  const Instant now = runtime_.now();
  std::vector<OwnerId> ripe;
  std::size_t batches_end = 0;  // where the last full batch ends, if what follows can wait
  for (auto due = due_.begin(); due != due_.end() && due->first <= now + batch_window; ++due) {
    if (ripe.size() % batch_size == 0) {
      batches_end = due->first > now ? ripe.size() : 0;
    }
    ripe.push_back(due->second);
  }
  if (batches_end != 0 && ripe.size() % batch_size != 0) {
    ripe.resize(batches_end);
  }
  std::vector<OwnerId> renewals;
  for (const OwnerId& owner : ripe) {
    const auto found = leases_.find(owner);
    if (found != leases_.end()) {
      Watched& watched = found->second;
      apply(watched, watched.machine.on_timer(now, batch_window), renewals);
    }
  }
  send_renewals(renewals);
  arm_watchdog();
}

void Engine::send_renewals(const std::vector<OwnerId>& owners) {
  std::vector<Claim> claims;
  std::vector<OwnerId> sent;
  for (const OwnerId& owner : owners) {
    const auto found = leases_.find(owner);
    if (found != leases_.end()) {
      claims.push_back(found->second.state->claim);
      claims.back().ttl = found->second.machine.renew_ttl();
      claims.back().fence = found->second.state->fence;
      sent.push_back(owner);
    }
  }
  if (claims.empty()) {
    return;
  }
  store_->renew(claims, [this, sent = std::move(sent)](const std::vector<RenewReply>& replies) {
    std::vector<OwnerId> again;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      on_renewed(sent[i], replies.at(i), again);
    }
    send_renewals(again);
  });
}

void Engine::on_renewed(const OwnerId& owner, const RenewReply& reply,
                        std::vector<OwnerId>& again) {
  const auto found = leases_.find(owner);
  if (found == leases_.end()) {
    return;  // released or lost while the renewal was on its way
  }
  Watched& watched = found->second;
  const std::shared_ptr<LeaseState> state = watched.state;
  const bool renewing = watched.machine.renewing();
  if (const auto* failed = std::get_if<Failed>(&reply)) {
    emit(Event::Kind::renewal_failed, *state, failed->code, failed->detail);
  }
  apply(watched, watched.machine.on_reply(reply, runtime_.now()), again);
  // A fixed lease is only verified, which is no news.
  if (std::holds_alternative<Renewed>(reply) && renewing && leases_.contains(owner)) {
    emit(Event::Kind::renewed, *state);
  }
}

// ---- release -----------------------------------------------------------------------------------

void Engine::release(const std::shared_ptr<LeaseState>& lease, ReleaseHandler handler) {
  forget(lease->claim.owner);
  ++releasing_;
  store_->withdraw(lease->claim, {.keep_min_hold = true, .tombstone = lease->tombstone},
                   [this, lease, done = std::move(handler)](const WithdrawReply& reply) mutable {
                     on_release_reply(lease, reply, done);
                   });
}

void Engine::on_release_reply(const std::shared_ptr<LeaseState>& lease, const WithdrawReply& reply,
                              ReleaseHandler& handler) {
  std::error_code code;
  if (std::holds_alternative<NotOwner>(reply)) {
    code = errc::not_owner;
  } else if (const auto* failed = std::get_if<Failed>(&reply)) {
    code = failed->code;
    if (!mutated(Mutation::failed_release_forgotten)) {
      clean_up(lease->claim, {.keep_min_hold = true, .tombstone = true});
    }
  }
  emit(Event::Kind::released, *lease, code);
  --releasing_;
  handler(code);
  finish_closing_if_idle();
}

}  // namespace holdfast::detail

#include "core/acquire_machine.hpp"

#include "base/mutation.hpp"
#include "core/trust.hpp"

#include <algorithm>
#include <utility>

namespace holdfast {

namespace {

using std::chrono::milliseconds;

// Each wait asks once more this long before its deadline, so that its last word is fresh; a store
// that has been silent for `silence` by then did not say "busy".
constexpr Duration last_ask_before = milliseconds{400};
constexpr Duration silence = milliseconds{200};
// A record that ends "now" on the store's clock is asked for a little later, not in a loop.
constexpr Duration recheck_min = milliseconds{5};

std::uint64_t spread_of(const OwnerId& owner) { return std::hash<OwnerId>{}(owner); }

}  // namespace

AcquireMachine::AcquireMachine(Claim claim, std::optional<Duration> safety_margin,
                               std::optional<Instant> deadline)
    : claim_(std::move(claim)),
      safety_margin_(safety_margin),
      deadline_(deadline),
      backoff_(spread_of(claim_.owner)) {
  claim_.liveness = liveness_of(claim_.ttl);
}

Duration AcquireMachine::margin(Duration ttl) const {
  return safety_margin_.value_or(default_margin(ttl));
}

AcquireAction AcquireMachine::start(AcquireAction first, Instant now) {
  single_ = deadline_ && *deadline_ <= now;
  return ask_now(single_ ? AcquireAction::ask : first, now);
}

AcquireAction AcquireMachine::on_reply(std::uint64_t ask, const AcquireReply& reply, Instant now) {
  if (finished_ || !in_flight_ || ask != ask_id_) {
    return finished_ ? AcquireAction::finish : AcquireAction::wait;
  }
  in_flight_ = false;
  if (const auto* yes = std::get_if<Granted>(&reply)) {
    return granted(*yes, now);
  }
  if (const auto* place = std::get_if<Queued>(&reply)) {
    return queued(*place, now);
  }
  if (const auto* no = std::get_if<Busy>(&reply)) {
    return busy(*no, now);
  }
  if (std::holds_alternative<AlreadyDone>(reply)) {
    result_.detail.clear();
    in_queue_ = false;
    return finish(errc::already_done);
  }
  return failed(std::get<Failed>(reply), now);
}

AcquireAction AcquireMachine::granted(const Granted& reply, Instant now) {
  in_queue_ = true;  // something of ours is in the store, whatever we make of it
  const Instant sent = mutated(Mutation::trust_from_reply) ? now : sent_;
  const Instant until = trusted_until(sent, reply.ttl, margin(reply.ttl));
  if (now < until) {
    return grant(reply.fence, reply.floor, reply.ttl, sent, until);
  }
  // The answer took so long that it proves nothing. Asking again refreshes the TTL.
  word_ = Word::failed;
  result_.code = errc::outcome_unknown;
  result_.detail = "the store's answer came after the lease had to be given up";
  if (single_) {
    return finish(errc::outcome_unknown);
  }
  return look_again_at(now + backoff_.next());
}

AcquireAction AcquireMachine::grant(Fence fence, Fence floor, Duration ttl, Instant sent,
                                    Instant until) {
  result_.code.clear();
  result_.detail.clear();
  result_.fence = fence;
  result_.floor = floor;
  result_.ttl = ttl;
  result_.sent = sent;
  result_.trusted_until = until;
  result_.tombstone = unanswered_ || in_flight_;
  result_.holder.reset();
  finished_ = true;
  look_at_.reset();
  return AcquireAction::finish;
}

AcquireAction AcquireMachine::queued(const Queued& reply, Instant now) {
  in_queue_ = true;
  beat_.reset();
  if (reply.last_fence != Fence::none) {
    beat_ = Beat{sent_, reply.last_fence};
  }
  hear_busy(reply.holder);
  if (again_) {
    return ask_again(now);
  }
  if (mutated(Mutation::waits_for_wake_ups)) {
    return AcquireAction::wait;
  }
  const Instant next_beat = sent_ + claim_.liveness / 3;
  const Duration recheck_in = std::clamp(reply.recheck_in, recheck_min, recheck_max);
  return look_again_at(std::min(next_beat, now + recheck_in));
}

// An earlier failure is over: it must not explain how the wait ends.
void AcquireMachine::hear_busy(const std::optional<Holder>& holder) {
  word_ = Word::busy;
  backoff_.reset();
  result_.code.clear();
  result_.detail.clear();
  result_.holder = holder;
}

AcquireAction AcquireMachine::busy(const Busy& reply, Instant now) {
  hear_busy(reply.holder);
  if (single_) {
    return finish(errc::busy);
  }
  if (again_ || ask_how_ == AcquireAction::ask) {
    return ask_again(now);
  }
  // This store keeps no queue: look again when time alone may have freed the name.
  return look_again_at(now + std::clamp(reply.recheck_in, recheck_min, recheck_max));
}

AcquireAction AcquireMachine::failed(const Failed& reply, Instant now) {
  word_ = Word::failed;
  unanswered_ = unanswered_ || reply.may_have_had_effect;
  result_.code = reply.code;
  result_.detail = reply.detail;
  if (single_ || !(reply.code == failure::transient)) {
    finished_ = true;
    return AcquireAction::finish;
  }
  return look_again_at(now + backoff_.next());
}

AcquireAction AcquireMachine::on_handed_off(const HandedOff& event, Instant now) {
  if (finished_ || !(event.owner == claim_.owner)) {
    return finished_ ? AcquireAction::finish : AcquireAction::wait;
  }
  // Provisional: the store ends it at our last beat + liveness, and the last beat it knows of is
  // no older than the last one that it answered. A message older than that answer is of a grant
  // that has ended since: its fence is not above the last one of the name that the answer told.
  if (beat_ && (event.fence > beat_->last || mutated(Mutation::old_news_of_handoff))) {
    const Instant sent = mutated(Mutation::handoff_trusted_from_news) ? now : beat_->sent;
    const Instant until = trusted_until(sent, claim_.liveness, margin(claim_.ttl));
    if (now < until) {
      result_.provisional = true;
      const bool forgets = mutated(Mutation::floor_of_handoff_forgotten);
      return grant(event.fence, forgets ? event.fence : event.floor, claim_.ttl, sent, until);
    }
  }
  return on_hint(now);
}

AcquireAction AcquireMachine::on_hint(Instant now) {
  if (finished_) {
    return AcquireAction::finish;
  }
  if (in_flight_) {
    again_ = true;
    return AcquireAction::wait;
  }
  return ask_again(now);
}

AcquireAction AcquireMachine::on_timer(Instant now) {
  if (finished_) {
    return AcquireAction::finish;
  }
  if (mutated(Mutation::deadline_waits_for_reply) && in_flight_) {
    return AcquireAction::wait;
  }
  if (!single_ && deadline_ && now >= *deadline_) {
    return at_deadline(now);
  }
  if (!in_flight_ && look_at_ && now >= *look_at_) {
    return ask_again(now);
  }
  return AcquireAction::wait;
}

AcquireAction AcquireMachine::at_deadline(Instant now) {
  const bool silent = in_flight_ && (word_ != Word::busy || now - sent_ >= silence);
  if (silent && word_ != Word::failed) {
    result_.detail = "no answer from the store";
    return finish(errc::outcome_unknown);
  }
  if (word_ == Word::busy) {
    return finish(errc::timed_out);
  }
  // The store's last word was a failure, and result_ says which.
  finished_ = true;
  look_at_.reset();
  return AcquireAction::finish;
}

AcquireAction AcquireMachine::cancel(Instant, errc why) {
  return finished_ ? AcquireAction::finish : finish(why);
}

AcquireAction AcquireMachine::cancel_instead(AcquireAction action, Instant now, errc why) {
  if (action == AcquireAction::ask || action == AcquireAction::ask_and_queue) {
    in_flight_ = false;
  }
  return cancel(now, why);
}

AcquireAction AcquireMachine::finish(errc code) {
  result_.code = code;
  finished_ = true;
  look_at_.reset();
  return AcquireAction::finish;
}

AcquireAction AcquireMachine::ask_now(AcquireAction how, Instant now) {
  in_flight_ = true;
  again_ = false;
  ask_how_ = how;
  sent_ = now;
  look_at_.reset();
  ++ask_id_;
  return how;
}

AcquireAction AcquireMachine::look_again_at(Instant when) {
  if (deadline_ && when > *deadline_ - last_ask_before && sent_ < *deadline_ - last_ask_before) {
    when = *deadline_ - last_ask_before;
  }
  look_at_ = when;
  return AcquireAction::wait;
}

std::optional<Instant> AcquireMachine::next_timer() const {
  if (finished_) {
    return std::nullopt;
  }
  if (single_ || !deadline_) {
    return look_at_;
  }
  return look_at_ ? std::min(*look_at_, *deadline_) : *deadline_;
}

std::optional<WithdrawOptions> AcquireMachine::clean_up() const {
  if (mutated(Mutation::unknown_outcome_forgotten) && (unanswered_ || in_flight_)) {
    return std::nullopt;
  }
  if (!result_.code || !(in_queue_ || unanswered_ || in_flight_)) {
    return std::nullopt;
  }
  return WithdrawOptions{.keep_min_hold = false, .tombstone = unanswered_ || in_flight_};
}

}  // namespace holdfast

#include "core/lease_machine.hpp"

#include "base/mutation.hpp"
#include "core/trust.hpp"

#include <algorithm>

namespace holdfast {

namespace {

// Losing takes a thread hop until the holder hears of it; this is taken off so that it hears in
// time even on a busy machine.
constexpr Duration notice_max = std::chrono::milliseconds{25};

}  // namespace

LeaseMachine::LeaseMachine(const LeaseOptions& options, const Grant& grant, std::uint64_t spread)
    : ttl_(options.ttl),
      renew_ttl_(options.ttl),
      margin_(margin_of(options, options.ttl)),
      lock_delay_(options.lock_delay.value_or(Duration{0})),
      sent_(grant.sent),
      trusted_until_(grant.trusted_until),
      backoff_(spread),
      provisional_(grant.provisional) {
  if (!options.renew) {
    fixed_end_ = grant.sent + ttl_;
  }
  if (options.max_hold) {
    capped_by_store_ = grant.ttl < ttl_;
    trust_cap_ = grant.sent + *options.max_hold - margin_;
    trusted_until_ = std::min(trusted_until_, trust_cap_);
  }
  // A fixed lease is verified as often as another is renewed.
  renew_at_ = grant.sent + renew_interval(grant.ttl);
}

LeaseAction LeaseMachine::start(Instant now) {
  if (now >= lose_at()) {
    return on_timer(now);
  }
  return provisional_ ? renew(now) : LeaseAction::wait;
}

LeaseAction LeaseMachine::renew(Instant now) {
  in_flight_ = true;
  again_ = false;
  renewal_sent_ = now;
  renew_at_ = never;
  if (!renewing() && !mutated(Mutation::fixed_is_renewed)) {
    // The first makes a provisional lease a full one, which lasts one TTL; later ones only ask
    // whether the lease is still ours, and must not make it longer.
    fixed_end_ = provisional_ ? now + ttl_ : fixed_end_;
    renew_ttl_ = fixed_end_ - now;
  }
  return LeaseAction::renew;
}

LeaseAction LeaseMachine::on_reply(const RenewReply& reply, Instant now) {
  if (lost() || !in_flight_) {
    return LeaseAction::wait;
  }
  in_flight_ = false;
  if (const auto* gone = std::get_if<Gone>(&reply)) {
    return lose(gone->reason == GoneReason::broken ? errc::broken : errc::taken);
  }
  if (const auto* renewed = std::get_if<Renewed>(&reply)) {
    provisional_ = false;
    backoff_.reset();
    if (mutated(Mutation::renewal_trusted_from_reply)) {
      renewal_sent_ = now;
    }
    capped_by_store_ = trust_cap_ != never && renewed->ttl < renew_ttl_;
    extend(renewed->ttl);
    if (again_) {
      return renew(now);
    }
    renew_at_ = renewal_sent_ + renew_interval(ttl_);
    return on_timer(now);
  }
  if (mutated(Mutation::watchdog_stops_on_failure)) {
    in_flight_ = true;
    return on_timer(now);
  }
  // Unknown neither extends nor ends the lease. Try again well inside what is left of it.
  const Duration left = std::max(trusted_until_ - now, Duration{0});
  renew_at_ = now + std::min(backoff_.next(), left / 4);
  return on_timer(now);
}

void LeaseMachine::extend(Duration ttl) {
  sent_ = renewal_sent_;
  // Replies of one connection come in order, but a store that caps the TTL may shorten it.
  trusted_until_ = std::min(holdfast::trusted_until(sent_, ttl, margin_), trust_cap_);
}

LeaseAction LeaseMachine::on_timer(Instant now, Duration ahead) {
  if (lost()) {
    return LeaseAction::wait;
  }
  if (now >= lose_at()) {
    // The store counts max_hold from the grant, which may be older than the answer that we have.
    const bool capped = capped_by_store_ || trusted_until_ >= trust_cap_;
    return lose(capped ? errc::max_hold : errc::expired);
  }
  if (!in_flight_ && now + ahead >= renew_at_) {
    return renew(now);
  }
  return LeaseAction::wait;
}

LeaseAction LeaseMachine::verify(Instant now) {
  if (lost()) {
    return LeaseAction::wait;
  }
  if (in_flight_) {
    again_ = true;
    return LeaseAction::wait;
  }
  return renew(now);
}

LeaseAction LeaseMachine::stale() { return lost() ? LeaseAction::wait : lose(errc::stale_fence); }

LeaseAction LeaseMachine::lose(errc why) {
  why_ = why;
  renew_at_ = never;
  return LeaseAction::lose;
}

Instant LeaseMachine::lose_at() const noexcept {
  if (mutated(Mutation::loss_told_at_expiry)) {
    return trusted_until_ + margin_;
  }
  return trusted_until_ - std::min(notice_max, margin_ / 4);
}

std::optional<Instant> LeaseMachine::next_timer() const noexcept {
  if (lost()) {
    return std::nullopt;
  }
  return std::min(renew_at_, lose_at());
}

}  // namespace holdfast

// ClientCore's release and everything else that ends a lease from the holder's side.
#include "engine/client_core.hpp"

namespace holdfast::detail {

std::optional<WithdrawReply> ClientCore::withdraw_on_lane(const Claim& claim,
                                                          WithdrawOptions options) {
  struct Answer {
    std::optional<WithdrawReply> reply{};
    bool late = false;
  };
  const auto answer = std::make_shared<Answer>();
  const LanePool::Borrowed lane = lanes_.borrow();
  Lane& runtime = lane->runtime();
  lane->store().withdraw(claim, options,
                         [answer](WithdrawReply reply) { answer->reply = std::move(reply); });
  const auto timer =
      runtime.call_at(runtime.now() + release_max, [answer] { answer->late = true; });
  runtime.run_until([&] { return answer->reply || answer->late; });
  runtime.cancel(timer);
  return std::move(answer->reply);
}

std::error_code ClientCore::release(const std::shared_ptr<LeaseState>& lease) noexcept try {
  if (!usable()) {
    return errc::closed;
  }
  forget(lease->claim.owner);
  const bool was_lost = lease->phase.load() == LeasePhase::lost;
  const WithdrawOptions options{.keep_min_hold = true, .tombstone = lease->tombstone};
  const auto reply = withdraw_on_lane(lease->claim, options);
  std::error_code code;
  std::string detail;
  if (!reply) {
    code = errc::outcome_unknown;
  } else if (const auto* failed = std::get_if<Failed>(&*reply)) {
    code = failed->may_have_had_effect ? make_error_code(errc::outcome_unknown) : failed->code;
    detail = failed->detail;
  } else if (std::holds_alternative<NotOwner>(*reply)) {
    code = errc::not_owner;
  }
  if (code && code != errc::not_owner) {
    on_loop([claim = Claim(lease->claim)](Engine& engine) {
      engine.clean_up(claim, {.keep_min_hold = true, .tombstone = true});
    });
  }
  if (!was_lost) {
    on_event({.kind = Event::Kind::released,
              .name = lease->claim.name,
              .owner = lease->claim.owner,
              .fence = lease->fence,
              .code = code,
              .detail = std::move(detail)});
  }
  return code;
} catch (...) {
  return errc::outcome_unknown;  // out of memory: the TTL is the safety net
}

void ClientCore::amend(const LeaseState& lease, const Claim& claim) {
  if (!lease.valid(BootClock::now())) {
    const bool lost = lease.phase.load() == LeasePhase::lost;
    throw Error{lost ? lease.why.load() : errc::expired, "only a lease that is held can change"};
  }
  const auto reply =
      ask_store<AmendReply>([&](Store& store, auto done) { store.amend(claim, std::move(done)); });
  if (const auto* gone = std::get_if<Gone>(&reply)) {
    on_loop([owner = claim.owner](Engine& engine) { engine.verify(owner); });
    throw Error{gone->reason == GoneReason::broken ? errc::broken : errc::taken, {}};
  }
  if (const auto* failed = std::get_if<Failed>(&reply)) {
    const bool unknown = failed->may_have_had_effect;
    throw Error{unknown ? make_error_code(errc::outcome_unknown) : failed->code, failed->detail};
  }
}

void ClientCore::downgrade(const Lease& held) {
  const std::shared_ptr<LeaseState>& lease = held.state_;
  Claim claim = lease->claim;
  claim.mode = Mode::shared;
  amend(*lease, claim);
  on_loop([owner = claim.owner](Engine& engine) { engine.downgraded(owner); });
}

void ClientCore::set_value(const Lease& held, std::string value) {
  if (!held.state_) {
    throw Error{errc::not_owner, "there is no lease"};
  }
  if (value.size() > value_size_max) {
    throw Error{errc::invalid_options, why_too_long(value)};
  }
  Claim claim = held.state_->claim;
  claim.value = std::move(value);
  amend(*held.state_, claim);
}

// Not urgent: the engine sees by itself that the lease is not held any more.
void ClientCore::forget(const OwnerId& owner) {
  on_loop([owner](Engine& engine) { engine.forget(owner); }, Instant::max());
}

void ClientCore::abandon(const OwnerId& owner) noexcept {
  ++tally_.ended;
  if (usable()) {
    forget(owner);
  }
}

void ClientCore::report_stale(const OwnerId& owner) noexcept {
  if (usable()) {
    on_loop([owner](Engine& engine) { engine.report_stale(owner); });
  }
}

}  // namespace holdfast::detail

// Locker's part in leases: holding, amending, giving back, writing under them.
#include "sim/locker.hpp"

#include <functional>
#include <utility>

namespace holdfast::sim {

namespace {

constexpr Duration amend_again_in = std::chrono::milliseconds{100};

}  // namespace

// The engine gives back what is granted to a client that closes.
void Locker::given_back_while_closing(const LeasePtr& lease) {
  if (held_.erase(lease->claim.owner) != 0) {
    around_.history.record(
        Ended{node_, lease->claim.name, lease->claim.owner, Ending::released, {}});
  }
}

LeasePtr Locker::hold(AttemptId attempt, const LeaseOptions& options, const Claim& claim,
                      const AcquireResult& granted) {
  const LeaseMachine::Grant grant{granted.ttl, granted.sent, granted.trusted_until,
                                  granted.provisional};
  const LeaseMachine watchdog{options, grant, std::hash<OwnerId>{}(claim.owner)};
  auto lease = std::make_shared<detail::LeaseState>(claim, granted.fence, granted.floor,
                                                    watchdog.trusted_until());
  lease->tombstone = granted.tombstone;
  const Held held{lease, attempt, lease->trusted(), !options.renew, claim};
  held_[lease->claim.owner] = held;
  record_trust(held);
  if (!held.claim.run_id.empty()) {
    around_.history.record(
        Ran{node_, held.claim.name, held.claim.run_id, held.claim.owner, RunStep::began});
  }
  engine_.hold(lease, watchdog);
  return lease;
}

void Locker::record_trust(const Held& held) {
  const detail::LeaseState& lease = *held.lease;
  around_.history.record(Trusts{node_, held.attempt, lease.claim.name, lease.claim.owner,
                                lease.fence, clock_.when(lease.trusted()), held.fixed,
                                lease.claim.ttl, use_of(held.claim), lease.floor});
}

void Locker::look() {
  for (auto& [owner, held] : held_) {
    if (held.last_trust != held.lease->trusted()) {
      held.last_trust = held.lease->trusted();
      record_trust(held);
    }
  }
}

void Locker::clock_changed() {
  for (const auto& [owner, held] : held_) {
    record_trust(held);
  }
  for (const auto& [attempt, running] : running_) {
    if (running->due) {
      around_.history.record(Due{attempt, clock_.when(*running->due)});
    }
  }
  for (const auto& [attempt, group] : groups_) {
    if (group->due) {
      around_.history.record(Due{attempt, clock_.when(*group->due)});
    }
  }
}

void Locker::release(const LeasePtr& lease, bool on_lane) {
  using detail::LeasePhase;
  if (lease->leave_held(LeasePhase::released)) {
    held_.erase(lease->claim.owner);
    around_.history.record(
        Ended{node_, lease->claim.name, lease->claim.owner, Ending::released, {}});
    send_release(lease, on_lane);
  } else if (lease->phase.load() == LeasePhase::lost && lease->why.load() != errc::taken) {
    send_release(lease, on_lane);  // the record may still be ours
  }
}

void Locker::complete(const LeasePtr& lease, Duration remember, bool on_lane) {
  const auto held = held_.find(lease->claim.owner);
  if (held == held_.end() || !lease->leave_held(detail::LeasePhase::released)) {
    release(lease, on_lane);  // lost before the work was over: it does not count
    return;
  }
  const Claim claim = held->second.claim;
  held_.erase(held);
  around_.history.record(Ran{node_, claim.name, claim.run_id, claim.owner, RunStep::completed});
  around_.history.record(Ended{node_, claim.name, claim.owner, Ending::released, {}});
  engine_.forget(claim.owner);
  withdraw(on_lane ? *lane_ : engine_.store(), claim,
           {.keep_min_hold = true, .tombstone = lease->tombstone, .remember = remember});
}

void Locker::fail(const LeasePtr& lease, bool on_lane) {
  if (const auto held = held_.find(lease->claim.owner); held != held_.end()) {
    const Claim& claim = held->second.claim;
    around_.history.record(Ran{node_, claim.name, claim.run_id, claim.owner, RunStep::failed});
  }
  release(lease, on_lane);
}

void Locker::send_release(const LeasePtr& lease, bool on_lane) {
  if (!on_lane) {
    engine_.release(lease, [](std::error_code) {});
    return;
  }
  engine_.forget(lease->claim.owner);
  withdraw(*lane_, lease->claim, {.keep_min_hold = true, .tombstone = lease->tombstone});
}

void Locker::withdraw(Store& store, const Claim& claim, WithdrawOptions options) {
  ++withdrawing_;
  store.withdraw(claim, options, [this, claim, options](const WithdrawReply& reply) mutable {
    --withdrawing_;
    if (std::holds_alternative<Failed>(reply)) {
      options.tombstone = true;
      engine_.clean_up(claim, options);
    }
  });
}

// ---- amending ----------------------------------------------------------------------------------

void Locker::downgrade(const LeasePtr& lease) {
  const auto held = held_.find(lease->claim.owner);
  if (held != held_.end()) {
    held->second.claim.mode = Mode::shared;
    record_trust(held->second);
    amend(held->second);
  }
}

void Locker::proclaim(const LeasePtr& lease, std::string value) {
  const auto held = held_.find(lease->claim.owner);
  if (held != held_.end()) {
    held->second.claim.value = std::move(value);
    amend(held->second);
  }
}

// One at a time: of two that are on their way, the older could be executed last.
void Locker::amend(Held& held) {
  if (std::exchange(held.amending, true)) {
    return;
  }
  engine_.store().amend(held.claim, [this, asked = held.claim](const AmendReply& reply) {
    on_amended(asked, reply);
  });
}

void Locker::on_amended(const Claim& asked, const AmendReply& reply) {
  const auto found = held_.find(asked.owner);
  if (found == held_.end()) {
    return;
  }
  Held& held = found->second;
  if (std::holds_alternative<Amended>(reply)) {
    if (!asked.value.empty()) {
      around_.history.record(Proclaimed{node_, asked.name, asked.owner, asked.value});
    }
    held.amending = false;
    if (asked.mode != held.lease->claim.mode) {
      engine_.downgraded(asked.owner);
    }
    if (held.claim.value != asked.value || held.claim.mode != asked.mode) {
      amend(held);
    }
    return;
  }
  if (std::holds_alternative<Gone>(reply)) {
    held.amending = false;  // the next renewal will hear of it too
    return;
  }
  runtime_.call_at(runtime_.now() + amend_again_in, [this, owner = asked.owner] {
    const auto still = held_.find(owner);
    if (still != held_.end()) {
      still->second.amending = false;
      amend(still->second);
    }
  });
}

void Locker::abandon(const LeasePtr& lease) {
  if (lease->leave_held(detail::LeasePhase::abandoned)) {
    held_.erase(lease->claim.owner);
    around_.history.record(
        Ended{node_, lease->claim.name, lease->claim.owner, Ending::abandoned, {}});
    engine_.forget(lease->claim.owner);
  }
}

void Locker::write(const LeasePtr& lease, std::function<void()> answered) {
  const OwnerId owner = lease->claim.owner;
  around_.database.write(
      {node_, lease->claim.name, owner, lease->fence, lease->floor},
      [weak = std::weak_ptr{self_}, owner, answered = std::move(answered)](bool refused) {
        const auto self = weak.lock();
        if (!self) {
          return;  // its process is gone
        }
        Locker& locker = **self;
        locker.runtime_.post([&locker, owner, refused, answered] {
          if (refused) {
            locker.engine_.report_stale(owner);
          }
          if (answered) {
            answered();
          }
        });
      });
}

}  // namespace holdfast::sim

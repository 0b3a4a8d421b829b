#include "sim/locker.hpp"

#include <utility>

namespace holdfast::sim {

namespace {

constexpr Duration single_attempt_max = std::chrono::milliseconds{2500};  // op_timeout and a bit
constexpr Duration amend_again_in = std::chrono::milliseconds{100};

}  // namespace

Locker::Locker(Surroundings& around, NodeId node, SimClock& clock, SimRuntime& runtime)
    : around_(around),
      node_(node),
      clock_(clock),
      runtime_(runtime),
      client_id_(around.next_client_id++),
      lane_(open_store(false)),
      engine_(runtime, open_store(true), *this) {
  runtime_.after_each([this] { look(); });
}

std::unique_ptr<Store> Locker::open_store(bool listens) {
  return std::make_unique<ModelStore>(
      around_.world, around_.network, around_.server, around_.history, runtime_,
      ModelStoreOptions{.node = node_, .client_id = client_id_, .listens = listens});
}

// ---- waits -------------------------------------------------------------------------------------

Claim Locker::make_claim(const Running& running) {
  const LeaseOptions& options = running.wait.options;
  Claim claim;
  claim.name = running.wait.name;
  runtime_.random_bytes(claim.owner.bytes);
  claim.ttl = options.ttl;
  claim.min_hold = options.min_hold.value_or(Duration{0});
  claim.max_hold = options.max_hold.value_or(Duration{0});
  claim.lock_delay = options.lock_delay.value_or(Duration{0});
  claim.mode = running.wait.use.mode;
  claim.permits = running.wait.use.permits;
  claim.limit = running.wait.use.limit;
  claim.run_id = running.wait.use.run;
  claim.value = running.wait.value;
  claim.who = {"n" + std::to_string(node_), 1, "a" + std::to_string(running.attempt)};
  return claim;
}

AttemptId Locker::acquire(const LockerWait& wait, WaitHandler done) {
  auto running = std::make_shared<Running>();
  running->attempt = around_.next_attempt++;
  running->wait = wait;
  running->done = std::move(done);
  running_[running->attempt] = running;
  Claim claim = make_claim(*running);
  running->owner = claim.owner;

  const Instant now = runtime_.now();
  std::optional<Instant> deadline;
  Wanted wanted{node_, running->attempt, wait.name, WorldTime::max(), wait.use};
  if (wait.timeout) {
    deadline = now + *wait.timeout;
    const bool single = *wait.timeout == Duration{0};
    running->due = single ? now + single_attempt_max : *deadline;
    wanted.due = clock_.when(*running->due);
  }
  around_.history.record(wanted);

  AcquireMachine machine{std::move(claim), wait.options.safety_margin, deadline};
  if (wait.lane_first) {
    running->on_lane.emplace(std::move(machine));
    ask_on_lane(running);
  } else {
    const AcquireAction first = machine.start(AcquireAction::ask_and_queue, now);
    hand_to_engine(running, std::move(machine), first);
  }
  return running->attempt;
}

void Locker::ask_on_lane(const std::shared_ptr<Running>& running) {
  AcquireMachine& machine = *running->on_lane;
  machine.start(AcquireAction::ask, runtime_.now());
  lane_->acquire(machine.claim(), Store::Queueing::no,
                 [this, running, ask = machine.ask_id()](const AcquireReply& reply) {
                   if (running->on_lane) {
                     leave_lane(running, running->on_lane->on_reply(ask, reply, runtime_.now()));
                   }
                 });
  if (const auto when = machine.next_timer()) {
    running->timer = runtime_.call_at(*when, [this, running] {
      if (running->on_lane) {
        leave_lane(running, running->on_lane->on_timer(runtime_.now()));
      }
    });
  }
}

void Locker::leave_lane(const std::shared_ptr<Running>& running, AcquireAction action) {
  runtime_.cancel(running->timer);
  AcquireMachine machine = std::move(*running->on_lane);
  running->on_lane.reset();
  if (!machine.finished()) {
    hand_to_engine(running, std::move(machine), action);
    return;
  }
  if (const auto left_over = machine.clean_up()) {
    lane_->withdraw(machine.claim(), *left_over, [](const WithdrawReply&) {});
    engine_.clean_up(machine.claim(), *left_over);
  }
  finish(running, machine);
}

void Locker::hand_to_engine(const std::shared_ptr<Running>& running, AcquireMachine machine,
                            AcquireAction action) {
  engine_.acquire(std::move(machine), action,
                  [this, running](const AcquireMachine& ended) { finish(running, ended); });
}

void Locker::cancel(AttemptId attempt) {
  const auto found = running_.find(attempt);
  if (found == running_.end()) {
    return;
  }
  const std::shared_ptr<Running> running = found->second;
  running->due = runtime_.now();
  around_.history.record(Due{attempt, around_.world.now()});
  if (running->on_lane) {
    const AcquireAction action = running->on_lane->cancel(runtime_.now());
    runtime_.post([this, running, action] {
      if (running->on_lane) {
        leave_lane(running, action);
      }
    });
  } else {
    engine_.cancel(running->owner);
  }
}

void Locker::finish(const std::shared_ptr<Running>& running, const AcquireMachine& ended) {
  running_.erase(running->attempt);
  const std::error_code code = ended.result().code;
  if (!code) {
    const LeasePtr lease = hold(*running, ended);
    around_.history.count("granted");
    if (!closing_) {
      running->done(lease, {});
    } else if (held_.erase(lease->claim.owner) != 0) {  // the engine has given it back
      around_.history.record(
          Ended{node_, lease->claim.name, lease->claim.owner, Ending::released, {}});
    }
    return;
  }
  around_.history.record(Refused{node_, running->attempt, running->wait.name, code});
  around_.history.count("not granted: " + code.message());
  if (!closing_) {
    running->done(nullptr, code);
  }
}

// ---- leases ------------------------------------------------------------------------------------

LeasePtr Locker::hold(const Running& running, const AcquireMachine& granted) {
  const AcquireResult& result = granted.result();
  const LeaseOptions& options = running.wait.options;
  const LeaseMachine::Grant grant{result.ttl, result.sent, result.trusted_until,
                                  result.provisional};
  const LeaseMachine watchdog{options, grant, std::hash<OwnerId>{}(granted.claim().owner)};
  auto lease = std::make_shared<detail::LeaseState>(granted.claim(), result.fence, result.floor,
                                                    watchdog.trusted_until());
  lease->tombstone = result.tombstone;
  const Held held{lease, running.attempt, lease->trusted(), !options.renew, granted.claim()};
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
  store.withdraw(claim, options, [this, claim, options](const WithdrawReply& reply) mutable {
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

void Locker::close(std::function<void()> closed) {
  closing_ = true;
  for (const auto& [attempt, running] : running_) {
    running->due = runtime_.now();
    around_.history.record(Due{attempt, around_.world.now()});
    if (running->on_lane) {
      running->on_lane->cancel(runtime_.now(), errc::closed);
      runtime_.post([this, running = running] {
        if (running->on_lane) {
          leave_lane(running, AcquireAction::finish);
        }
      });
    }
  }
  for (const auto& [owner, held] : std::exchange(held_, {})) {
    around_.history.record(Ended{node_, held.lease->claim.name, owner, Ending::released, {}});
  }
  engine_.close(std::move(closed));
}

bool Locker::idle() const { return running_.empty() && held_.empty() && engine_.cleaning() == 0; }

void Locker::on_event(Event event) {
  if (event.kind == Event::Kind::renewed) {
    around_.history.count("renewed");
  } else if (event.kind == Event::Kind::renewal_failed) {
    around_.history.count("renewals failed");
  }
}

void Locker::on_lost(const LeasePtr& lease) {
  const std::error_code why = make_error_code(lease->why.load());
  held_.erase(lease->claim.owner);
  around_.history.record(Ended{node_, lease->claim.name, lease->claim.owner, Ending::lost, why});
  around_.history.count("lost: " + why.message());
  if (lost_ && !closing_) {
    lost_(lease);
  }
}

}  // namespace holdfast::sim

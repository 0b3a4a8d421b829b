#include "sim/locker.hpp"

#include <utility>

namespace holdfast::sim {

namespace {

constexpr Duration single_attempt_max = std::chrono::milliseconds{2500};  // op_timeout and a bit
constexpr Duration look_again_in = std::chrono::milliseconds{10};

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
  if (around_.quorum != nullptr) {
    return std::make_unique<QuorumStore>(
        around_.world, around_.network, *around_.quorum, around_.history, runtime_,
        QuorumStoreOptions{.node = node_, .client_id = client_id_ * 2 + (listens ? 1 : 0)});
  }
  return std::make_unique<ModelStore>(
      around_.world, around_.network, around_.servers, around_.history, runtime_,
      ModelStoreOptions{.node = node_, .client_id = client_id_, .listens = listens});
}

// ---- waits -------------------------------------------------------------------------------------

Claim Locker::make_claim(const LockerWait& wait, AttemptId attempt) {
  const LeaseOptions& options = wait.options;
  Claim claim;
  claim.name = wait.name;
  runtime_.random_bytes(claim.owner.bytes);
  claim.ttl = options.ttl;
  claim.min_hold = options.min_hold.value_or(Duration{0});
  claim.max_hold = options.max_hold.value_or(Duration{0});
  claim.lock_delay = options.lock_delay.value_or(Duration{0});
  claim.mode = wait.use.mode;
  claim.permits = wait.use.permits;
  claim.limit = wait.use.limit;
  claim.run_id = wait.use.run;
  claim.value = wait.value;
  claim.who = {"n" + std::to_string(node_), 1, "a" + std::to_string(attempt)};
  return claim;
}

AttemptId Locker::acquire(const LockerWait& wait, WaitHandler done) {
  auto running = std::make_shared<Running>();
  running->attempt = around_.next_attempt++;
  running->wait = wait;
  running->done = std::move(done);
  running_[running->attempt] = running;
  Claim claim = make_claim(wait, running->attempt);
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
  if (cancel_group(attempt) || found == running_.end()) {
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
    const LeasePtr lease =
        hold(running->attempt, running->wait.options, ended.claim(), ended.result());
    around_.history.count("granted");
    if (!closing_) {
      running->done(lease, {});
    } else {
      given_back_while_closing(lease);
    }
    return;
  }
  around_.history.record(Refused{node_, running->attempt, running->wait.name, code});
  around_.history.count("not granted: " + code.message());
  if (!closing_) {
    running->done(nullptr, code);
  }
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
  for (const auto& [attempt, group] : groups_) {
    group->due = runtime_.now();
    around_.history.record(Due{attempt, around_.world.now()});
  }
  for (const auto& [owner, held] : std::exchange(held_, {})) {
    around_.history.record(Ended{node_, held.lease->claim.name, owner, Ending::released, {}});
  }
  engine_.close([this, closed = std::move(closed)] { end_when_idle(closed); });
}

// A release on a lane is somebody's call: the process joins its threads before it ends.
void Locker::end_when_idle(std::function<void()> closed) {
  if (withdrawing_ == 0 && engine_.cleaning() == 0) {
    closed();
    return;
  }
  runtime_.call_at(runtime_.now() + look_again_in,
                   [this, closed = std::move(closed)] { end_when_idle(closed); });
}

bool Locker::idle() const {
  return running_.empty() && groups_.empty() && held_.empty() && withdrawing_ == 0 &&
         engine_.cleaning() == 0;
}

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

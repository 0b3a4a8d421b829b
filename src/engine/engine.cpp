#include "engine/engine.hpp"

#include "base/mutation.hpp"
#include "core/trust.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::detail {

Engine::Engine(Runtime& runtime, std::unique_ptr<Store> store, EngineSink& sink)
    : runtime_(runtime), sink_(sink), store_(std::move(store)) {
  store_->listen([this](const StoreEvent& event) { on_store_event(event); });
}

Engine::~Engine() {
  store_->close();
  store_.reset();
  for (const auto& [owner, wait] : waits_) {
    runtime_.cancel(wait->timer);
  }
  for (const auto& [id, group] : groups_) {
    runtime_.cancel(group->timer);
  }
  for (const auto& [id, cleanup] : cleanups_) {
    runtime_.cancel(cleanup->timer);
  }
  runtime_.cancel(watchdog_timer_);
}

void Engine::emit(Event::Kind kind, const LeaseState& lease, std::error_code code,
                  std::string detail) {
  sink_.on_event({kind,
                  lease.claim.name,
                  lease.claim.owner,
                  lease.fence,
                  code,
                  std::move(detail),
                  lease.trusted(),
                  {}});
}

// ---- waits -------------------------------------------------------------------------------------

void Engine::start(AcquireMachine machine, AcquireHandler handler) {
  const AcquireAction first = machine.start(AcquireAction::ask_and_queue, runtime_.now());
  acquire(std::move(machine), first, std::move(handler));
}

void Engine::acquire(AcquireMachine machine, AcquireAction action, AcquireHandler handler,
                     std::uint32_t thread) {
  const OwnerId owner = machine.claim().owner;
  waits_.emplace(owner, std::make_unique<Wait>(std::move(machine), std::move(handler), thread));
  Wait& wait = *waits_.at(owner);
  if (closing_) {
    action = wait.machine.cancel(runtime_.now(), errc::closed);
  }
  step(owner, unless_it_waits_for_itself(wait, action));
}

AcquireAction Engine::unless_it_waits_for_itself(Wait& wait, AcquireAction action) {
  if (action == AcquireAction::finish || !waits_for_itself(wait)) {
    return action;
  }
  return wait.machine.cancel_instead(action, runtime_.now(), errc::would_deadlock);
}

bool Engine::waits_for_itself(const Wait& wait) const {
  if (wait.thread == no_thread || !wait.machine.told_busy()) {
    return false;
  }
  const Claim& claim = wait.machine.claim();
  if (const auto& holder = wait.machine.holder()) {
    const auto found = leases_.find(holder->owner);
    if (found != leases_.end() && claim.limit == 0) {
      const LeaseState& theirs = *found->second.state;
      if (theirs.thread == wait.thread && theirs.phase.load() == LeasePhase::held) {
        return true;
      }
    }
  }
  const std::uint32_t ours = own_.count(wait.thread, claim.name);
  return ours != 0 &&
         (claim.limit == 0 || claim.permits > claim.limit - std::min(ours, claim.limit));
}

void Engine::cancel(const OwnerId& owner, errc why) {
  const auto found = waits_.find(owner);
  if (found != waits_.end()) {
    step(owner, found->second->machine.cancel(runtime_.now(), why));
  }
}

void Engine::step(const OwnerId& owner, AcquireAction action) {
  Wait& wait = *waits_.at(owner);
  switch (action) {
    case AcquireAction::wait:
      break;
    case AcquireAction::ask:
      send_ask(wait, Store::Queueing::no);
      break;
    case AcquireAction::ask_and_queue:
      send_ask(wait, Store::Queueing::yes);
      break;
    case AcquireAction::finish:
      finish(owner);
      return;
  }
  arm(wait);
}

void Engine::send_ask(Wait& wait, Store::Queueing queueing) {
  const OwnerId owner = wait.machine.claim().owner;
  store_->acquire(wait.machine.claim(), queueing,
                  [this, owner, ask = wait.machine.ask_id()](const AcquireReply& reply) {
                    const auto found = waits_.find(owner);
                    if (found == waits_.end()) {
                      return;  // finished; whatever this granted is being withdrawn
                    }
                    Wait& answered = *found->second;
                    const auto action = answered.machine.on_reply(ask, reply, runtime_.now());
                    if (mutated(Mutation::withdrawn_owner_asks_again) &&
                        std::holds_alternative<Failed>(reply)) {
                      clean_up(answered.machine.claim(), {.tombstone = true});
                    }
                    const auto next = unless_it_waits_for_itself(answered, action);
                    tell_holder(answered);
                    step(owner, next);
                  });
}

void Engine::arm(Wait& wait) {
  runtime_.cancel(wait.timer);
  wait.timer = 0;
  if (const auto when = wait.machine.next_timer()) {
    wait.timer = runtime_.call_at(*when, [this, owner = wait.machine.claim().owner] {
      step(owner, waits_.at(owner)->machine.on_timer(runtime_.now()));
    });
  }
}

void Engine::tell_holder(Wait& wait) {
  const auto& holder = wait.machine.holder();
  if (!holder || wait.machine.finished() || holder->owner == wait.told) {
    return;
  }
  wait.told = holder->owner;
  Event event{.kind = Event::Kind::waiting, .name = wait.machine.claim().name};
  event.owner = wait.machine.claim().owner;
  event.holder = *holder;
  sink_.on_event(std::move(event));
}

void Engine::finish(const OwnerId& owner) {
  auto node = waits_.extract(owner);
  const std::shared_ptr<Wait> wait = std::move(node.mapped());
  runtime_.cancel(wait->timer);
  if (const auto options = wait->machine.clean_up()) {
    clean_up(wait->machine.claim(), *options);
  }
  runtime_.post([wait] { wait->handler(wait->machine); });
}

// ---- clean-up ----------------------------------------------------------------------------------

void Engine::clean_up(const Claim& claim, WithdrawOptions options, Instant when) {
  if (mutated(Mutation::mark_forgotten_in_clean_up)) {
    options.remember = Duration{0};
  }
  const std::uint64_t id = ++next_cleanup_;
  const Instant now = runtime_.now();
  const Instant give_up_at = std::max(now, when) + claim.ttl + claim.lock_delay;
  cleanups_.emplace(id, std::make_unique<Cleanup>(claim, options, give_up_at));
  run_cleanup(id, cleanups_.at(id)->machine.start(when, now));
}

void Engine::run_cleanup(std::uint64_t id, CleanupAction action) {
  Cleanup& cleanup = *cleanups_.at(id);
  switch (action) {
    case CleanupAction::wait:
      break;
    case CleanupAction::withdraw:
      store_->withdraw(cleanup.claim, cleanup.options, [this, id](const WithdrawReply& reply) {
        run_cleanup(id, cleanups_.at(id)->machine.on_reply(reply, runtime_.now()));
      });
      break;
    case CleanupAction::end:
      cleanups_.erase(id);
      finish_closing_if_idle();
      return;
  }
  runtime_.cancel(cleanup.timer);
  if (const auto when = cleanup.machine.next_timer()) {
    cleanup.timer = runtime_.call_at(
        *when, [this, id] { run_cleanup(id, cleanups_.at(id)->machine.on_timer(runtime_.now())); });
  }
}

// ---- what the store tells by itself ------------------------------------------------------------

void Engine::on_store_event(const StoreEvent& event) {
  const Instant now = runtime_.now();
  if (const auto* handed = std::get_if<HandedOff>(&event)) {
    const auto found = waits_.find(handed->owner);
    if (found != waits_.end()) {
      step(handed->owner, found->second->machine.on_handed_off(*handed, now));
    }
  } else if (const auto* hint = std::get_if<MaybeFree>(&event)) {
    const auto found = waits_.find(hint->owner);
    if (found != waits_.end()) {
      step(hint->owner, found->second->machine.on_hint(now));
    }
  } else {
    if (std::holds_alternative<Doubt>(event)) {
      for (const auto& [owner, wait] : waits_) {
        wait->machine.forget_beat();
      }
    }
    // A lease that was granted on a lane may have been posted here and not run yet; what is posted
    // now runs after it.
    runtime_.post([this, weak = std::weak_ptr{alive_}, event] {
      if (weak.lock()) {
        on_doubtful(event);
      }
    });
  }
}

void Engine::on_doubtful(const StoreEvent& event) {
  if (const auto* broken = std::get_if<MarkedBroken>(&event)) {
    verify(broken->owner);
  } else {
    on_doubt();
  }
}

void Engine::on_doubt() {
  std::vector<OwnerId> owners;
  owners.reserve(leases_.size());
  for (const auto& [owner, watched] : leases_) {
    owners.push_back(owner);
  }
  std::vector<OwnerId> renewals;
  for (const OwnerId& owner : owners) {
    if (!mutated(Mutation::doubt_is_ignored)) {
      verify(owner, renewals);
    }
  }
  send_renewals(renewals);
  owners.clear();
  for (const auto& [owner, wait] : waits_) {
    owners.push_back(owner);
  }
  for (const OwnerId& owner : owners) {
    step(owner, waits_.at(owner)->machine.on_hint(runtime_.now()));
  }
}

// ---- closing -----------------------------------------------------------------------------------

void Engine::close(UniqueFunction<void()> handler) {
  closing_ = true;
  closed_ = std::move(handler);
  std::vector<std::uint64_t> groups;
  for (const auto& [id, group] : groups_) {
    groups.push_back(id);
  }
  for (const std::uint64_t id : groups) {
    cancel_all(id, errc::closed);
  }
  std::vector<OwnerId> owners;
  for (const auto& [owner, wait] : waits_) {
    owners.push_back(owner);
  }
  for (const OwnerId& owner : owners) {
    cancel(owner, errc::closed);
  }
  std::vector<std::shared_ptr<LeaseState>> leases;
  for (const auto& [owner, watched] : leases_) {
    leases.push_back(watched.state);
  }
  for (const auto& lease : leases) {
    if (lease->leave_held(LeasePhase::released)) {
      release(lease, [](std::error_code) {});
    }
  }
  std::vector<std::uint64_t> put_off;
  for (const auto& [id, cleanup] : cleanups_) {
    put_off.push_back(id);
  }
  for (const std::uint64_t id : put_off) {
    run_cleanup(id, cleanups_.at(id)->machine.hurry(runtime_.now()));
  }
  finish_closing_if_idle();
}

void Engine::finish_closing_if_idle() {
  if (closing_ && closed_ && cleanups_.empty() && groups_.empty() && releasing_ == 0) {
    runtime_.post(std::move(closed_));
    closed_ = {};
  }
}

}  // namespace holdfast::detail

// The engine's part in acquire_all: runs AcquireAllMachine.
#include "engine/engine.hpp"

#include <utility>

namespace holdfast::detail {

void Engine::acquire_all(std::uint64_t id, AcquireAllMachine machine, AcquireAllHandler handler,
                         std::uint32_t thread) {
  Group& group =
      *groups_.emplace(id, std::make_unique<Group>(std::move(machine), std::move(handler), thread))
           .first->second;
  const Instant now = runtime_.now();
  step_all(id, closing_ ? group.machine.cancel(now, errc::closed) : group.machine.start(now));
}

void Engine::cancel_all(std::uint64_t id, errc why) {
  const auto found = groups_.find(id);
  if (found == groups_.end()) {
    return;
  }
  AcquireAllMachine& machine = found->second->machine;
  const bool queueing = machine.queueing();
  step_all(id, machine.cancel(runtime_.now(), why));
  if (queueing) {
    cancel(machine.claims()[machine.index()].owner, why);
  }
}

void Engine::step_all(std::uint64_t id, AcquireAllAction action) {
  Group& group = *groups_.at(id);
  for (const AcquireAllMachine::GiveBack& left_over : group.machine.take_give_backs()) {
    clean_up(left_over.claim, left_over.options);
  }
  switch (action) {
    case AcquireAllAction::wait:
      break;
    case AcquireAllAction::ask_all:
      ask_all(id, group);
      break;
    case AcquireAllAction::ask_one:
      ask_one(id, group);
      break;
    case AcquireAllAction::queue:
      queue_for_one(id, group);
      break;
    case AcquireAllAction::finish:
      finish_all(id);
      return;
  }
  runtime_.cancel(group.timer);
  group.timer = 0;
  if (const auto when = group.machine.next_timer()) {
    group.timer = runtime_.call_at(
        *when, [this, id] { step_all(id, groups_.at(id)->machine.on_timer(runtime_.now())); });
  }
}

void Engine::ask_all(std::uint64_t id, const Group& group) {
  store_->acquire_all(group.machine.claims(),
                      [this, id, ask = group.machine.ask_id()](const AcquireAllReply& reply) {
                        const auto found = groups_.find(id);
                        if (found != groups_.end()) {
                          step_all(id, found->second->machine.on_reply(ask, reply, runtime_.now()));
                        }
                      });
}

void Engine::ask_one(std::uint64_t id, const Group& group) {
  store_->acquire(group.machine.claims()[group.machine.index()], Store::Queueing::no,
                  [this, id, ask = group.machine.ask_id()](const AcquireReply& reply) {
                    const auto found = groups_.find(id);
                    if (found != groups_.end()) {
                      step_all(id, found->second->machine.on_reply(ask, reply, runtime_.now()));
                    }
                  });
}

// An ordinary wait, with a place in the queue. It outlives neither the group nor the engine.
void Engine::queue_for_one(std::uint64_t id, const Group& group) {
  AcquireMachine machine = group.machine.queued_wait();
  const AcquireAction first = machine.start(AcquireAction::ask_and_queue, runtime_.now());
  acquire(
      std::move(machine), first,
      [this, id, weak = std::weak_ptr{alive_}](const AcquireMachine& ended) {
        if (weak.lock()) {
          step_all(id, groups_.at(id)->machine.on_queue_end(ended.result(), runtime_.now()));
        }
      },
      group.thread);
}

void Engine::finish_all(std::uint64_t id) {
  const std::shared_ptr<Group> group = std::move(groups_.extract(id).mapped());
  runtime_.cancel(group->timer);
  runtime_.post([group] { group->handler(std::move(group->machine)); });
  finish_closing_if_idle();
}

}  // namespace holdfast::detail

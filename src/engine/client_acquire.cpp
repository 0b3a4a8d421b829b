// ClientCore's acquire: blocking, on a lane and then in the loop, and asynchronous.
#include "engine/blocked_wait.hpp"
#include "engine/client_core.hpp"
#include "engine/deadline.hpp"

#include <functional>

namespace holdfast::detail {

namespace {

ClientCore::Outcome refused(errc code, std::string detail = {}) {
  return {Lease{}, code, std::move(detail)};
}

// A lane that nobody runs sends nothing, and the next who runs this one may never come.
void send_what_was_asked(Lane& lane) {
  const auto turned = std::make_shared<bool>(false);
  lane.post([turned] { *turned = true; });
  lane.run_until([turned] { return *turned; });
}

}  // namespace

ClientCore::Outcome ClientCore::acquire(const Ask& ask, const Wait& wait) {
  if (!usable()) {
    return refused(errc::closed, "this is a forked child; make a client of its own");
  }
  if (closing_) {
    return refused(errc::closed);
  }
  if (wait.stop.stop_requested()) {
    return refused(errc::cancelled);
  }
  LanePool::Borrowed lane = lanes_.borrow();
  if (auto refusal = why_refused(ask, lane->store().capabilities())) {
    return refused(refusal->code, std::move(refusal->detail));
  }
  const Instant now = lane->runtime().now();
  AcquireMachine machine{make_claim(ask, lane->runtime()), ask.options.safety_margin,
                         deadline_of(wait, now)};
  const AcquireAction action = ask_on_lane(*lane, machine, wait);
  if (machine.finished()) {
    if (const auto left_over = machine.clean_up()) {
      // On the same connection, in case nothing else gets through, and from the loop until the
      // store has answered.
      lane->store().withdraw(machine.claim(), *left_over, [](const WithdrawReply&) {});
      send_what_was_asked(lane->runtime());
      on_loop([claim = machine.claim(), options = *left_over](Engine& engine) {
        engine.clean_up(claim, options);
      });
    }
  } else {
    lane.reset();
    finish_on_loop(machine, action, wait);
  }
  return conclude(machine, ask.options, thread_number());
}

// The first request, sent by the calling thread itself: no hop between threads if it is granted.
AcquireAction ClientCore::ask_on_lane(LaneStore& lane, AcquireMachine& machine, const Wait& wait) {
  struct First {
    std::optional<AcquireReply> reply{};
    bool late = false;
    bool stopped = false;
  };
  const auto first = std::make_shared<First>();
  Lane& runtime = lane.runtime();
  machine.start(AcquireAction::ask, runtime.now());
  lane.store().acquire(machine.claim(), Store::Queueing::no,
                       [first](AcquireReply reply) { first->reply = std::move(reply); });
  Runtime::TimerId timer = 0;
  if (const auto when = machine.next_timer()) {
    timer = runtime.call_at(*when, [first] { first->late = true; });
  }
  const auto stop = [&] { runtime.post([first] { first->stopped = true; }); };
  std::optional<std::stop_callback<decltype(stop)>> on_stop;
  if (wait.stop.stop_possible()) {
    on_stop.emplace(wait.stop, stop);
  }
  runtime.run_until([&] { return first->reply || first->late || first->stopped; });
  on_stop.reset();
  runtime.cancel(timer);
  const Instant now = runtime.now();
  if (first->reply) {
    return machine.on_reply(machine.ask_id(), *first->reply, now);
  }
  return first->stopped ? machine.cancel(now) : machine.on_timer(now);
}

void ClientCore::finish_on_loop(AcquireMachine& machine, AcquireAction action, const Wait& wait) {
  const OwnerId owner = machine.claim().owner;
  const auto blocked = std::make_shared<BlockedWait<AcquireMachine>>();
  ++tally_.waiting;
  on_loop([machine, action, wake = WakeCaller<AcquireMachine>{blocked},
           thread = thread_number()](Engine& engine) mutable {
    engine.acquire(std::move(machine), action, std::move(wake), thread);
  });
  const auto stop = [&] { cancel(owner); };
  const std::stop_callback on_stop{wait.stop, stop};
  if (auto ended = blocked->get()) {
    machine = std::move(*ended);
  } else {
    machine.cancel(BootClock::now(), errc::closed);
  }
  --tally_.waiting;
}

ClientCore::Outcome ClientCore::conclude(const AcquireMachine& machine, const LeaseOptions& options,
                                         std::uint32_t thread) {
  AcquireResult result = machine.result();
  if (result.code == errc::would_deadlock) {
    result.detail = "this thread itself holds what it would wait for; release that first";
  }
  if (!result.code) {
    if (Lease lease = make_lease(machine.claim(), result, options, thread)) {
      return {std::move(lease), {}, {}};
    }
    // Granted while the client was closed: nobody would watch over it.
    withdraw_on_lane(machine.claim(), {.keep_min_hold = false, .tombstone = result.tombstone});
    result.code = errc::closed;
  }
  Event event{.kind = Event::Kind::not_granted, .name = machine.claim().name};
  event.owner = machine.claim().owner;
  event.code = result.code;
  event.detail = result.detail;
  event.holder = result.holder.value_or(Holder{});
  on_event(std::move(event));
  return {Lease{}, result.code, result.detail};
}

Lease ClientCore::make_lease(const Claim& claim, const AcquireResult& result,
                             const LeaseOptions& options, std::uint32_t thread) {
  const LeaseMachine::Grant grant{result.ttl, result.sent, result.trusted_until,
                                  result.provisional};
  const LeaseMachine watchdog{options, grant, std::hash<OwnerId>{}(claim.owner)};
  auto state =
      std::make_shared<LeaseState>(claim, result.fence, result.floor, watchdog.trusted_until());
  state->tombstone = result.tombstone;
  state->thread = thread;
  state->core = shared_from_this();
  // The loop needs to hear of it only when there is something to do for it.
  const Instant first_due = result.provisional ? Instant{} : watchdog.next_timer().value();
  if (!on_loop([state, watchdog](Engine& engine) { engine.hold(state, watchdog); }, first_due)) {
    return Lease{};
  }
  on_event({.kind = Event::Kind::granted,
            .name = state->claim.name,
            .owner = state->claim.owner,
            .fence = state->fence,
            .until = state->trusted()});
  return Lease{std::move(state)};
}

// ---- asynchronous acquire ----------------------------------------------------------------------

// Its handler is called exactly once: with how the wait ended, or with errc::closed if the loop
// ended before it.
class ClientCore::AsyncWait {
 public:
  AsyncWait(std::shared_ptr<ClientCore> core, LeaseHandler handler, LeaseOptions options)
      : core_(std::move(core)), handler_(std::move(handler)), options_(std::move(options)) {
    ++core_->tally_.waiting;
  }
  AsyncWait(const AsyncWait&) = delete;
  AsyncWait& operator=(const AsyncWait&) = delete;
  ~AsyncWait() {
    if (handler_) {
      deliver(refused(errc::closed));
    }
  }

  void stop_with(const std::stop_token& stop, const OwnerId& owner) {
    if (stop.stop_possible()) {
      on_stop_.emplace(stop, [weak = std::weak_ptr{core_}, owner] {
        if (const auto core = weak.lock()) {
          core->cancel(owner);
        }
      });
    }
  }
  // An asynchronous wait, and the lease that comes of it, belong to no thread.
  void end(const AcquireMachine& machine) {
    deliver(core_->conclude(machine, options_, no_thread));
  }
  void refuse(Refusal refusal) { deliver(refused(refusal.code, std::move(refusal.detail))); }

 private:
  void deliver(Outcome outcome) {
    --core_->tally_.waiting;
    UniqueFunction<void()> call{
        [handler = std::exchange(handler_, {}), code = outcome.code,
         lease = std::move(outcome.lease)]() mutable { handler(code, std::move(lease)); }};
    if (!core_->tell(std::move(call))) {
      // The client was closed meanwhile and has no threads left; once is a promise. tell() left
      // the call as it was.
      call();  // NOLINT(bugprone-use-after-move)
    }
  }

  std::shared_ptr<ClientCore> core_;
  LeaseHandler handler_;
  LeaseOptions options_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_{};
};

Operation ClientCore::start_acquire(const Ask& ask, const Wait& wait, LeaseHandler handler) {
  require_usable();
  const LanePool::Borrowed lane = lanes_.borrow();
  const auto async =
      std::make_shared<AsyncWait>(shared_from_this(), std::move(handler), ask.options);
  if (auto refusal = why_refused(ask, lane->store().capabilities())) {
    async->refuse(std::move(*refusal));
    return {};
  }
  Claim claim = make_claim(ask, lane->runtime());
  const OwnerId owner = claim.owner;
  AcquireMachine machine{std::move(claim), ask.options.safety_margin,
                         deadline_of(wait, BootClock::now())};
  on_loop([machine, async](Engine& engine) mutable {
    engine.start(std::move(machine), [async](const AcquireMachine& ended) { async->end(ended); });
  });
  // Not before: a stop that was requested already cancels at once, and there must be what to
  // cancel.
  async->stop_with(wait.stop, owner);
  return Operation{std::make_shared<OperationState>(weak_from_this(), owner)};
}

void ClientCore::cancel(const OwnerId& owner) noexcept {
  on_loop([owner](Engine& engine) { engine.cancel(owner); });
}

}  // namespace holdfast::detail

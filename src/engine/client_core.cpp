#include "engine/client_core.hpp"

#include "base/fork_generation.hpp"
#include "core/lease_options.hpp"
#include "core/trust.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <functional>
#include <future>

namespace holdfast::detail {

namespace {

// Destructors wait for the store at most this long, whatever op_timeout says.
constexpr Duration release_max = std::chrono::seconds{2};

std::string host_name(const ClientOptions& options) {
  if (!options.host.empty()) {
    return options.host;
  }
  std::array<char, 256> buffer{};
  return gethostname(buffer.data(), buffer.size() - 1) == 0 ? buffer.data() : "";
}

std::optional<Instant> deadline_of(const Wait& wait, Instant now) {
  if (!wait.timeout) {
    return std::nullopt;
  }
  return now + std::clamp(*wait.timeout, Duration{0}, ttl_max);
}

ClientCore::Outcome refused(errc code, std::string detail = {}) {
  return {Lease{}, code, std::move(detail)};
}

}  // namespace

ClientCore::ClientCore(std::shared_ptr<StoreFactory> stores, std::shared_ptr<Host> host,
                       ClientOptions options)
    : stores_(std::move(stores)),
      host_(std::move(host)),
      options_(std::move(options)),
      host_name_(host_name(options_)),
      born_in_(fork_generation()),
      lanes_(*stores_, *host_),
      notifier_(host_->make_notifier()),
      observer_notifier_(host_->make_notifier()),
      loop_(host_->start_loop()) {
  loop_->runtime().post([this] {
    engine_ = std::make_unique<Engine>(loop_->runtime(), stores_->open(loop_->runtime()), *this);
  });
}

ClientCore::~ClientCore() { close(); }

bool ClientCore::usable() const noexcept { return fork_generation() == born_in_; }

void ClientCore::require_usable() const {
  if (!usable()) {
    throw Error{errc::closed, "this is a forked child; make a client of its own"};
  }
}

bool ClientCore::on_loop(UniqueFunction<void(Engine&)> work, Instant latest) {
  if (!usable()) {
    return false;
  }
  const std::lock_guard lock{mutex_};
  if (!closed_) {
    loop_->runtime().post_by(latest, [this, task = std::move(work)]() mutable { task(*engine_); });
  }
  return !closed_;
}

bool ClientCore::tell(UniqueFunction<void()> callback) {
  return tell_on(notifier_, std::move(callback));
}

bool ClientCore::tell_on(std::unique_ptr<Notifier>& notifier, UniqueFunction<void()> callback) {
  const std::lock_guard lock{notifier_mutex_};
  if (notifier) {
    notifier->post(std::move(callback));
  }
  return notifier != nullptr;
}

Claim ClientCore::make_claim(const std::string& name, const LeaseOptions& options,
                             Runtime& random) const {
  Claim claim;
  claim.name = name;
  random.random_bytes(claim.owner.bytes);
  claim.ttl = options.ttl;
  claim.liveness = liveness_of(options.ttl);
  claim.min_hold = options.min_hold.value_or(Duration{0});
  claim.max_hold = options.max_hold.value_or(Duration{0});
  claim.lock_delay = options.lock_delay.value_or(Duration{0});
  claim.who = {host_name_, getpid(), options.note};
  return claim;
}

// ---- blocking acquire --------------------------------------------------------------------------

ClientCore::Outcome ClientCore::acquire(const std::string& name, const LeaseOptions& options,
                                        const Wait& wait) {
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
  const Instant now = lane->runtime().now();
  AcquireMachine machine{make_claim(name, options, lane->runtime()), options.safety_margin,
                         deadline_of(wait, now)};
  const AcquireAction action = ask_on_lane(*lane, machine, wait);
  if (machine.finished()) {
    if (const auto left_over = machine.clean_up()) {
      // On the same connection, in case nothing else gets through, and from the loop until the
      // store has answered.
      lane->store().withdraw(machine.claim(), *left_over, [](const WithdrawReply&) {});
      on_loop([claim = machine.claim(), options = *left_over](Engine& engine) {
        engine.clean_up(claim, options);
      });
    }
  } else {
    lane.reset();
    finish_on_loop(machine, action, wait);
  }
  return conclude(machine, options);
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

namespace {

// A caller that waits for the loop to bring its machine to an end.
class BlockedWait {
 public:
  void set(std::optional<AcquireMachine> machine) {
    const std::lock_guard lock{mutex_};
    machine_ = std::move(machine);
    ended_ = true;
    done_.notify_all();
  }
  // nullopt: the loop ended first.
  std::optional<AcquireMachine> get() {
    std::unique_lock lock{mutex_};
    done_.wait(lock, [&] { return ended_; });
    return std::move(machine_);
  }

 private:
  std::mutex mutex_{};
  std::condition_variable done_{};
  std::optional<AcquireMachine> machine_{};
  bool ended_ = false;
};

// The loop's end of it. Destroyed uncalled (the client closes), it still lets the caller go.
class WakeCaller {
 public:
  explicit WakeCaller(std::shared_ptr<BlockedWait> blocked) : blocked_(std::move(blocked)) {}
  WakeCaller(WakeCaller&&) noexcept = default;
  WakeCaller& operator=(WakeCaller&&) = delete;
  WakeCaller(const WakeCaller&) = delete;
  WakeCaller& operator=(const WakeCaller&) = delete;
  ~WakeCaller() {
    if (blocked_) {
      blocked_->set(std::nullopt);
    }
  }
  void operator()(const AcquireMachine& ended) { std::exchange(blocked_, {})->set(ended); }

 private:
  std::shared_ptr<BlockedWait> blocked_;
};

}  // namespace

void ClientCore::finish_on_loop(AcquireMachine& machine, AcquireAction action, const Wait& wait) {
  const OwnerId owner = machine.claim().owner;
  const auto blocked = std::make_shared<BlockedWait>();
  ++tally_.waiting;
  on_loop([machine, action, wake = WakeCaller{blocked}](Engine& engine) mutable {
    engine.acquire(std::move(machine), action, std::move(wake));
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

ClientCore::Outcome ClientCore::conclude(const AcquireMachine& machine,
                                         const LeaseOptions& options) {
  AcquireResult result = machine.result();
  if (!result.code) {
    if (Lease lease = make_lease(machine, options)) {
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

Lease ClientCore::make_lease(const AcquireMachine& machine, const LeaseOptions& options) {
  const AcquireResult& result = machine.result();
  const LeaseMachine::Grant grant{result.ttl, result.sent, result.trusted_until,
                                  result.provisional};
  const LeaseMachine watchdog{options, grant, 0};
  auto state = std::make_shared<LeaseState>(machine.claim(), options, result.fence, result.floor,
                                            watchdog.trusted_until());
  state->tombstone = result.tombstone;
  state->core = shared_from_this();
  // The loop needs to hear of it only when there is something to do for it.
  const Instant first_due = result.provisional ? Instant{} : watchdog.next_timer().value();
  if (!on_loop([state, grant](Engine& engine) { engine.hold(state, grant); }, first_due)) {
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
  AsyncWait(std::shared_ptr<ClientCore> core, LeaseHandler handler, const LeaseOptions& options)
      : core_(std::move(core)), handler_(std::move(handler)), options_(options) {
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
  void end(const AcquireMachine& machine) { deliver(core_->conclude(machine, options_)); }

 private:
  void deliver(Outcome outcome) {
    --core_->tally_.waiting;
    core_->tell([handler = std::exchange(handler_, {}), code = outcome.code,
                 lease = std::move(outcome.lease)]() mutable { handler(code, std::move(lease)); });
  }

  std::shared_ptr<ClientCore> core_;
  LeaseHandler handler_;
  LeaseOptions options_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_{};
};

Operation ClientCore::start_acquire(const std::string& name, const LeaseOptions& options,
                                    const Wait& wait, LeaseHandler handler) {
  require_usable();
  if (closing_) {
    throw Error{errc::closed, {}};
  }
  Claim claim = make_claim(name, options, lanes_.borrow()->runtime());
  const OwnerId owner = claim.owner;
  AcquireMachine machine{std::move(claim), options.safety_margin,
                         deadline_of(wait, BootClock::now())};
  auto async = std::make_shared<AsyncWait>(shared_from_this(), std::move(handler), options);
  async->stop_with(wait.stop, owner);
  on_loop([machine, async = std::move(async)](Engine& engine) mutable {
    engine.start(std::move(machine), [async](const AcquireMachine& ended) { async->end(ended); });
  });
  return Operation{std::make_shared<OperationState>(weak_from_this(), owner)};
}

void ClientCore::cancel(const OwnerId& owner) noexcept {
  on_loop([owner](Engine& engine) { engine.cancel(owner); });
}

// ---- release -----------------------------------------------------------------------------------

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
    on_loop([claim = lease->claim](Engine& engine) {
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

// ---- what the engine tells ---------------------------------------------------------------------

void ClientCore::on_event(Event event) {
  switch (event.kind) {
    case Event::Kind::waiting:
      break;
    case Event::Kind::granted:
      ++tally_.granted;
      break;
    case Event::Kind::not_granted:
      ++tally_.not_granted;
      break;
    case Event::Kind::renewed:
      ++tally_.renewed;
      break;
    case Event::Kind::renewal_failed:
      ++tally_.renewals_failed;
      break;
    case Event::Kind::lost:
      ++tally_.lost;
      ++tally_.ended;
      tally_.overlaps += event.code == errc::taken ? 1U : 0U;
      break;
    case Event::Kind::released:
      ++tally_.released;
      ++tally_.ended;
      break;
  }
  if (options_.observer != nullptr) {
    tell_on(observer_notifier_,
            [observer = options_.observer, told = std::move(event)] { observer->on_event(told); });
  }
}

void ClientCore::on_lost(const std::shared_ptr<LeaseState>& lease) {
  tell([lease] { lease->lost.request_stop(); });
}

Counters ClientCore::counters() const {
  Counters now;
  now.granted = tally_.granted;
  now.not_granted = tally_.not_granted;
  now.renewed = tally_.renewed;
  now.renewals_failed = tally_.renewals_failed;
  now.lost = tally_.lost;
  now.overlaps = tally_.overlaps;
  now.released = tally_.released;
  now.waiting = tally_.waiting;
  const std::uint64_t ended = tally_.ended;
  now.held = now.granted > ended ? now.granted - ended : 0;
  return now;
}

Capabilities ClientCore::capabilities() {
  require_usable();
  return lanes_.borrow()->store().capabilities();
}

void ClientCore::close() noexcept {
  if (!usable()) {
    lanes_.abandon_after_fork();
    if (loop_) {
      loop_->abandon_after_fork();
      notifier_->abandon_after_fork();
      observer_notifier_->abandon_after_fork();
      static_cast<void>(engine_.release());
    }
    return;
  }
  if (closing_.exchange(true)) {
    return;
  }
  auto closed = std::make_shared<std::promise<void>>();
  on_loop([closed](Engine& engine) { engine.close([closed] { closed->set_value(); }); });
  closed->get_future().wait_for(release_max);
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  loop_->stop();
  engine_.reset();
  loop_.reset();  // with what it did not run; waits among it are told so, while somebody can tell
  lanes_.close();
  std::unique_ptr<Notifier> observers;
  std::unique_ptr<Notifier> notifier;
  {
    const std::lock_guard lock{notifier_mutex_};
    notifier = std::move(notifier_);
    observers = std::move(observer_notifier_);
  }
}  // runs what was told, then joins

}  // namespace holdfast::detail

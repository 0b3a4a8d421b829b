#include "engine/client_core.hpp"

#include "base/fork_generation.hpp"
#include "core/trust.hpp"

#include <unistd.h>

#include <array>
#include <future>

namespace holdfast::detail {

namespace {

std::string host_name(const ClientOptions& options) {
  if (!options.host.empty()) {
    return options.host;
  }
  std::array<char, 256> buffer{};
  return gethostname(buffer.data(), buffer.size() - 1) == 0 ? buffer.data() : "";
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
  if (closing_) {
    throw Error{errc::closed, {}};
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

bool ClientCore::tell(UniqueFunction<void()>&& callback) {
  return tell_on(notifier_, std::move(callback));
}

bool ClientCore::tell_on(std::unique_ptr<Notifier>& notifier, UniqueFunction<void()>&& callback) {
  const std::lock_guard lock{notifier_mutex_};
  if (notifier) {
    notifier->post(std::move(callback));
  }
  return notifier != nullptr;
}

Claim ClientCore::make_claim(const Ask& ask, Runtime& random) const {
  const LeaseOptions& options = ask.options;
  Claim claim;
  claim.name = ask.name;
  random.random_bytes(claim.owner.bytes);
  claim.mode = ask.mode;
  claim.permits = ask.permits;
  claim.limit = ask.limit;
  claim.run_id = ask.run_id;
  claim.value = ask.value;
  claim.ttl = options.ttl;
  claim.liveness = liveness_of(options.ttl);
  claim.min_hold = options.min_hold.value_or(Duration{0});
  claim.max_hold = options.max_hold.value_or(Duration{0});
  claim.lock_delay = options.lock_delay.value_or(Duration{0});
  claim.who = {host_name_, getpid(), options.note};
  return claim;
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

#include <holdfast/mutex.hpp>

#include "engine/client_core.hpp"

#include <cstdio>
#include <cstdlib>

namespace holdfast {

namespace {

// A wrong use that would break exclusion if it went on. On in release builds too.
void require(bool condition, const char* message) {
  if (!condition) {
    std::fputs(message, stderr);
    std::abort();
  }
}

}  // namespace

Mutex::Mutex(Client& client, std::string name, LeaseOptions options)
    : core_(client.core()), name_(std::move(name)), options_(std::move(options)) {
  detail::require_valid(name_, options_);
}

Mutex::~Mutex() = default;

Lease Mutex::acquire(const Wait& wait) {
  auto outcome = core_->acquire({name_, options_}, wait);
  if (outcome.code) {
    throw Error{outcome.code, outcome.detail};
  }
  return std::move(outcome.lease);
}

Lease Mutex::acquire(const Wait& wait, std::error_code& ec) {
  auto outcome = core_->acquire({name_, options_}, wait);
  ec = outcome.code;
  return std::move(outcome.lease);
}

std::optional<Lease> Mutex::try_acquire() {
  auto outcome = core_->acquire({name_, options_}, {.timeout = Duration{0}});
  if (outcome.code == errc::busy) {
    return std::nullopt;
  }
  if (outcome.code) {
    throw Error{outcome.code, outcome.detail};
  }
  return std::move(outcome.lease);
}

std::optional<Lease> Mutex::try_acquire(std::error_code& ec) {
  auto outcome = core_->acquire({name_, options_}, {.timeout = Duration{0}});
  ec = outcome.code == errc::busy ? std::error_code{} : outcome.code;
  if (outcome.code) {
    return std::nullopt;
  }
  return std::move(outcome.lease);
}

Operation Mutex::start_acquire(const Wait& wait, LeaseHandler handler) {
  return core_->start_acquire({name_, options_}, wait, std::move(handler));
}

void Mutex::lock() { keep(acquire()); }

bool Mutex::try_lock() { return try_lock_within(Duration{0}); }

bool Mutex::try_lock_within(Duration timeout) {
  auto outcome = core_->acquire({name_, options_}, {.timeout = timeout});
  if (outcome.code == failure::not_acquired) {
    return false;
  }
  if (outcome.code) {
    throw Error{outcome.code, outcome.detail};
  }
  keep(std::move(outcome.lease));
  return true;
}

void Mutex::keep(Lease lease) {
  const std::lock_guard guard{mutex_};
  const bool added = held_.try_emplace(std::this_thread::get_id(), std::move(lease)).second;
  require(added, "holdfast: a Mutex was locked twice by one thread\n");
}

void Mutex::unlock() noexcept {
  std::map<std::thread::id, Lease>::node_type held;
  {
    const std::lock_guard guard{mutex_};
    held = held_.extract(std::this_thread::get_id());
  }
  require(!held.empty(), "holdfast: a Mutex was unlocked by a thread that had not locked it\n");
  std::error_code ignored;
  held.mapped().release(ignored);
}

const Lease& Mutex::lease() const {
  const std::lock_guard guard{mutex_};
  const auto held = held_.find(std::this_thread::get_id());
  require(held != held_.end(), "holdfast: lease() of a Mutex that this thread has not locked\n");
  return held->second;
}

}  // namespace holdfast

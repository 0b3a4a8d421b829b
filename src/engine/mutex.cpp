#include <holdfast/mutex.hpp>

#include "engine/client_core.hpp"
#include "engine/held_by_thread.hpp"
#include "engine/outcome.hpp"

namespace holdfast {

Mutex::Mutex(Client& client, std::string name, LeaseOptions options)
    : core_(client.core()),
      name_(std::move(name)),
      options_(std::move(options)),
      held_(std::make_unique<detail::HeldByThread>(name_)) {
  detail::require_valid(name_, options_);
}

Mutex::~Mutex() = default;

Lease Mutex::acquire(const Wait& wait) {
  return detail::granted(core_->acquire({name_, options_}, wait));
}

Lease Mutex::acquire(const Wait& wait, std::error_code& ec) {
  return detail::granted(core_->acquire({name_, options_}, wait), ec);
}

std::optional<Lease> Mutex::try_acquire() {
  return detail::granted_or_busy(core_->acquire({name_, options_}, detail::one_attempt()));
}

std::optional<Lease> Mutex::try_acquire(std::error_code& ec) {
  return detail::granted_or_busy(core_->acquire({name_, options_}, detail::one_attempt()), ec);
}

Operation Mutex::start_acquire(const Wait& wait, LeaseHandler handler) {
  return core_->start_acquire({name_, options_}, wait, std::move(handler));
}

void Mutex::lock() { held_->keep(acquire()); }

bool Mutex::try_lock() { return try_lock_within(Duration{0}); }

bool Mutex::try_lock_within(Duration timeout) {
  auto lease = detail::granted_in_time(core_->acquire({name_, options_}, {.timeout = timeout}));
  if (lease) {
    held_->keep(std::move(*lease));
  }
  return lease.has_value();
}

void Mutex::unlock() noexcept {
  std::error_code ignored;
  held_->take().release(ignored);
}

const Lease& Mutex::lease() const { return held_->latest(); }

}  // namespace holdfast

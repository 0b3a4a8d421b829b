#include <holdfast/shared_mutex.hpp>

#include "engine/client_core.hpp"
#include "engine/held_by_thread.hpp"
#include "engine/outcome.hpp"

namespace holdfast {

namespace {

detail::Ask to_write(const std::string& name, const LeaseOptions& options) {
  return {.name = name, .options = options};
}

detail::Ask to_read(const std::string& name, const LeaseOptions& options) {
  return {.name = name, .options = options, .mode = Mode::shared};
}

}  // namespace

SharedMutex::SharedMutex(Client& client, std::string name, LeaseOptions options)
    : core_(client.core()),
      name_(std::move(name)),
      options_(std::move(options)),
      held_(std::make_unique<detail::HeldByThread>(name_)),
      held_shared_(std::make_unique<detail::HeldByThread>(name_)) {
  detail::require_valid(name_, options_);
}

SharedMutex::~SharedMutex() = default;

// ---- writers -----------------------------------------------------------------------------------

Lease SharedMutex::acquire(const Wait& wait) {
  return detail::granted(core_->acquire(to_write(name_, options_), wait));
}

Lease SharedMutex::acquire(const Wait& wait, std::error_code& ec) {
  return detail::granted(core_->acquire(to_write(name_, options_), wait), ec);
}

std::optional<Lease> SharedMutex::try_acquire() {
  return detail::granted_or_busy(core_->acquire(to_write(name_, options_), detail::one_attempt()));
}

std::optional<Lease> SharedMutex::try_acquire(std::error_code& ec) {
  return detail::granted_or_busy(core_->acquire(to_write(name_, options_), detail::one_attempt()),
                                 ec);
}

Operation SharedMutex::start_acquire(const Wait& wait, LeaseHandler handler) {
  return core_->start_acquire(to_write(name_, options_), wait, std::move(handler));
}

void SharedMutex::lock() { held_->keep(acquire()); }

bool SharedMutex::try_lock() { return try_lock_within(Duration{0}); }

bool SharedMutex::try_lock_within(Duration timeout) {
  auto lease =
      detail::granted_in_time(core_->acquire(to_write(name_, options_), {.timeout = timeout}));
  if (lease) {
    held_->keep(std::move(*lease));
  }
  return lease.has_value();
}

void SharedMutex::unlock() noexcept {
  std::error_code ignored;
  held_->take().release(ignored);
}

const Lease& SharedMutex::lease() const { return held_->latest(); }

// ---- readers -----------------------------------------------------------------------------------

Lease SharedMutex::acquire_shared(const Wait& wait) {
  return detail::granted(core_->acquire(to_read(name_, options_), wait));
}

Lease SharedMutex::acquire_shared(const Wait& wait, std::error_code& ec) {
  return detail::granted(core_->acquire(to_read(name_, options_), wait), ec);
}

std::optional<Lease> SharedMutex::try_acquire_shared() {
  return detail::granted_or_busy(core_->acquire(to_read(name_, options_), detail::one_attempt()));
}

std::optional<Lease> SharedMutex::try_acquire_shared(std::error_code& ec) {
  return detail::granted_or_busy(core_->acquire(to_read(name_, options_), detail::one_attempt()),
                                 ec);
}

Operation SharedMutex::start_acquire_shared(const Wait& wait, LeaseHandler handler) {
  return core_->start_acquire(to_read(name_, options_), wait, std::move(handler));
}

void SharedMutex::lock_shared() { held_shared_->keep(acquire_shared()); }

bool SharedMutex::try_lock_shared() { return try_lock_shared_within(Duration{0}); }

bool SharedMutex::try_lock_shared_within(Duration timeout) {
  auto lease =
      detail::granted_in_time(core_->acquire(to_read(name_, options_), {.timeout = timeout}));
  if (lease) {
    held_shared_->keep(std::move(*lease));
  }
  return lease.has_value();
}

void SharedMutex::unlock_shared() noexcept {
  std::error_code ignored;
  held_shared_->take().release(ignored);
}

const Lease& SharedMutex::shared_lease() const { return held_shared_->latest(); }

// ---- from one to the other ---------------------------------------------------------------------

void SharedMutex::downgrade(Lease& writer) {
  if (!writer || writer.name() != name_) {
    throw Error{errc::invalid_options, "this is no lease of " + name_};
  }
  core_->downgrade(writer);
}

void SharedMutex::downgrade() {
  core_->downgrade(held_->latest());
  held_shared_->keep(held_->take());
}

}  // namespace holdfast

#include <holdfast/shared_mutex.hpp>

#include "engine/client_core.hpp"
#include "engine/held_by_thread.hpp"
#include "engine/outcome.hpp"

namespace holdfast {

namespace {

detail::Ask to_read(const std::string& name, const LeaseOptions& options) {
  return {.name = name, .options = options, .mode = Mode::shared};
}

}  // namespace

SharedMutex::SharedMutex(Client& client, std::string name, LeaseOptions options)
    : writer_(client, std::move(name), std::move(options)),
      held_shared_(std::make_unique<detail::HeldByThread>(writer_.name())) {}

SharedMutex::~SharedMutex() = default;

Lease SharedMutex::acquire_shared(const Wait& wait) {
  return detail::granted(writer_.core_->acquire(to_read(writer_.name_, writer_.options_), wait));
}

Lease SharedMutex::acquire_shared(const Wait& wait, std::error_code& ec) {
  return detail::granted(writer_.core_->acquire(to_read(writer_.name_, writer_.options_), wait),
                         ec);
}

std::optional<Lease> SharedMutex::try_acquire_shared() {
  return detail::granted_or_busy(
      writer_.core_->acquire(to_read(writer_.name_, writer_.options_), detail::one_attempt()));
}

std::optional<Lease> SharedMutex::try_acquire_shared(std::error_code& ec) {
  return detail::granted_or_busy(
      writer_.core_->acquire(to_read(writer_.name_, writer_.options_), detail::one_attempt()), ec);
}

Operation SharedMutex::start_acquire_shared(const Wait& wait, LeaseHandler handler) {
  return writer_.core_->start_acquire(to_read(writer_.name_, writer_.options_), wait,
                                      std::move(handler));
}

void SharedMutex::lock_shared() { held_shared_->keep(acquire_shared()); }

bool SharedMutex::try_lock_shared() { return try_lock_shared_within(Duration{0}); }

bool SharedMutex::try_lock_shared_within(Duration timeout) {
  auto lease = detail::granted_in_time(
      writer_.core_->acquire(to_read(writer_.name_, writer_.options_), {.timeout = timeout}));
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

void SharedMutex::downgrade(Lease& writer) {
  if (!writer || writer.name() != name()) {
    throw Error{errc::invalid_options, "this is no lease of " + name()};
  }
  writer_.core_->downgrade(writer);
}

void SharedMutex::downgrade() {
  writer_.core_->downgrade(writer_.held_->latest());
  held_shared_->keep(writer_.held_->take());
}

}  // namespace holdfast

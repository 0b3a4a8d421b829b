#include <holdfast/semaphore.hpp>

#include "engine/client_core.hpp"
#include "engine/outcome.hpp"

namespace holdfast {

namespace {

detail::Ask ask_for(const Semaphore& semaphore, const LeaseOptions& options,
                    std::uint32_t permits) {
  return {.name = semaphore.name(),
          .options = options,
          .mode = Mode::shared,
          .permits = permits,
          .limit = semaphore.limit()};
}

}  // namespace

Semaphore::Semaphore(Client& client, std::string name, std::uint32_t limit, LeaseOptions options)
    : core_(client.core()), name_(std::move(name)), limit_(limit), options_(std::move(options)) {
  detail::require_valid(name_, options_);
  if (limit_ == 0 || limit_ > limit_max) {
    throw Error{errc::invalid_options, "the limit " + std::to_string(limit_) + " must be 1 to " +
                                           std::to_string(limit_max)};
  }
}

Lease Semaphore::acquire(const Wait& wait, std::uint32_t permits) {
  return detail::granted(core_->acquire(ask_for(*this, options_, permits), wait));
}

Lease Semaphore::acquire(const Wait& wait, std::error_code& ec, std::uint32_t permits) {
  return detail::granted(core_->acquire(ask_for(*this, options_, permits), wait), ec);
}

std::optional<Lease> Semaphore::try_acquire(std::uint32_t permits) {
  return detail::granted_or_busy(
      core_->acquire(ask_for(*this, options_, permits), detail::one_attempt()));
}

std::optional<Lease> Semaphore::try_acquire(std::error_code& ec, std::uint32_t permits) {
  return detail::granted_or_busy(
      core_->acquire(ask_for(*this, options_, permits), detail::one_attempt()), ec);
}

Operation Semaphore::start_acquire(const Wait& wait, LeaseHandler handler, std::uint32_t permits) {
  return core_->start_acquire(ask_for(*this, options_, permits), wait, std::move(handler));
}

}  // namespace holdfast

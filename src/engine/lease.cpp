#include <holdfast/lease.hpp>

#include "engine/client_core.hpp"
#include "engine/lease_state.hpp"

namespace holdfast {

using detail::LeasePhase;

Lease::Lease() noexcept = default;
Lease::Lease(std::shared_ptr<detail::LeaseState> state) noexcept : state_(std::move(state)) {}
Lease::Lease(Lease&& other) noexcept : state_(std::move(other.state_)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    std::error_code ignored;
    release(ignored);
    state_ = std::move(other.state_);
  }
  return *this;
}

Lease::~Lease() {
  std::error_code ignored;
  release(ignored);
}

Lease::operator bool() const noexcept { return state_ != nullptr; }

bool Lease::valid() const noexcept { return state_ && state_->valid(BootClock::now()); }

Instant Lease::trusted_until() const noexcept { return state_ ? state_->trusted() : Instant{}; }

Fence Lease::fence() const noexcept { return state_ ? state_->fence : Fence::none; }

Fence Lease::floor() const noexcept { return state_ ? state_->floor : Fence::none; }

OwnerId Lease::owner() const noexcept { return state_ ? state_->claim.owner : OwnerId{}; }

const std::string& Lease::name() const noexcept {
  static const std::string none;
  return state_ ? state_->claim.name : none;
}

Duration Lease::ttl() const noexcept { return state_ ? state_->claim.ttl : Duration{0}; }

std::stop_token Lease::lost() const noexcept {
  return state_ ? state_->lost.get_token() : std::stop_token{};
}

std::error_code Lease::why_lost() const noexcept {
  if (!state_ || state_->phase.load() != LeasePhase::lost) {
    return {};
  }
  return state_->why.load();
}

void Lease::report_stale() noexcept {
  if (state_ && state_->core) {
    state_->stale = true;
    state_->core->report_stale(state_->claim.owner);
  }
}

void Lease::release() {
  std::error_code code;
  release(code);
  if (code) {
    throw Error{code, {}};
  }
}

void Lease::release(std::error_code& ec) noexcept {
  ec.clear();
  const std::shared_ptr<detail::LeaseState> state = std::move(state_);
  state_.reset();
  if (!state || !state->core) {
    return;
  }
  if (state->leave_held(LeasePhase::released)) {
    ec = state->core->release(state);
    return;
  }
  if (state->phase.load() == LeasePhase::lost) {
    const errc why = state->why.load();
    if (why != errc::taken) {
      // The record may still be ours; an owner-checked release frees the name sooner.
      state->core->release(state);
    }
    ec = why;
  }
}

void Lease::abandon() noexcept {
  const std::shared_ptr<detail::LeaseState> state = std::move(state_);
  state_.reset();
  if (state && state->leave_held(LeasePhase::abandoned) && state->core) {
    state->core->abandon(state->claim.owner);
  }
}

}  // namespace holdfast

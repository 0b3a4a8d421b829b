#include <holdfast/run.hpp>

#include "base/duration_text.hpp"
#include "engine/client_core.hpp"

namespace holdfast {

namespace {

detail::Ask ask_of(const Once& once) {
  return {.name = once.job, .options = once.lease, .run_id = once.run_id};
}

}  // namespace

void detail::end_exclusive(Lease lease) {
  constexpr const char* lost = "the lease was lost while the work ran";
  const bool held = lease.valid();
  std::error_code code;
  lease.release(code);
  if (code == failure::ownership_lost) {
    throw Error{code, lost};
  }
  if (!held) {  // its time is over, which the loop has yet to see
    throw Error{errc::expired, lost};
  }
}

OnceRun::OnceRun(Client& client, Once once) : core_(client.core()), once_(std::move(once)) {
  if (const auto refusal = detail::why_refused(ask_of(once_), core_->capabilities())) {
    throw Error{refusal->code, refusal->detail};
  }
  if (once_.run_id.empty()) {
    throw Error{errc::invalid_options, "the run id is empty"};
  }
  if (once_.remember <= Duration{0} || once_.remember > ttl_max) {
    throw Error{errc::invalid_options, "remember " + duration_text(once_.remember) +
                                           " must be above zero and at most 10 years"};
  }
}

Lease OnceRun::acquire(const Wait& wait) {
  auto outcome = core_->acquire(ask_of(once_), wait);
  if (outcome.code) {
    throw Error{outcome.code, outcome.detail};
  }
  return std::move(outcome.lease);
}

Lease OnceRun::acquire(const Wait& wait, std::error_code& ec) {
  auto outcome = core_->acquire(ask_of(once_), wait);
  ec = outcome.code;
  return std::move(outcome.lease);
}

Operation OnceRun::start_acquire(const Wait& wait, LeaseHandler handler) {
  return core_->start_acquire(ask_of(once_), wait, std::move(handler));
}

void OnceRun::finish(Lease lease) {
  const auto outcome = core_->finish(std::move(lease), ask_of(once_), once_.remember);
  if (outcome.code) {
    throw Error{outcome.code, outcome.detail};
  }
}

void OnceRun::finish(Lease lease, std::error_code& ec) {
  ec = core_->finish(std::move(lease), ask_of(once_), once_.remember).code;
}

}  // namespace holdfast

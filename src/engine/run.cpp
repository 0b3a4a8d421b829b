#include <holdfast/run.hpp>

#include "base/duration_text.hpp"
#include "base/utf8.hpp"
#include "core/lease_options.hpp"
#include "engine/client_core.hpp"

namespace holdfast {

namespace {

std::string why_invalid_run(const Once& once) {
  if (once.run_id.empty() || once.run_id.size() > name_size_max) {
    return "the run id must be 1 to 255 bytes long";
  }
  if (!is_valid_utf8(once.run_id) || has_control_character(once.run_id)) {
    return "the run id is not plain text: control characters and broken UTF-8 are not allowed";
  }
  if (once.remember <= Duration{0} || once.remember > ttl_max) {
    return "remember " + duration_text(once.remember) + " must be above zero and at most 10 years";
  }
  return why_invalid(once.lease);
}

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
  if (const std::string why = why_invalid_name(once_.job); !why.empty()) {
    throw Error{errc::invalid_name, "the job's name " + why};
  }
  if (const std::string why = why_invalid_run(once_); !why.empty()) {
    throw Error{errc::invalid_options, why};
  }
  if (!core_->capabilities().runs) {
    throw Error{errc::unsupported, "this store does not remember which runs are done"};
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

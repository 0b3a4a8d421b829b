#include "engine/ask.hpp"

#include "base/utf8.hpp"
#include "core/lease_options.hpp"

#include <utility>

namespace holdfast::detail {

namespace {

std::optional<Refusal> wrong_name_or_times(const std::string& name, const LeaseOptions& options) {
  if (const std::string why = why_invalid_name(name); !why.empty()) {
    return Refusal{errc::invalid_name, "the name " + why};
  }
  if (std::string why = why_invalid(options); !why.empty()) {
    return Refusal{errc::invalid_options, std::move(why)};
  }
  return std::nullopt;
}

// Empty, or what is wrong with the rest of it.
std::string why_wrong(const Ask& ask) {
  if (ask.limit > limit_max) {
    return "the limit " + std::to_string(ask.limit) + " must be at most " +
           std::to_string(limit_max);
  }
  if (ask.limit != 0 && (ask.permits == 0 || ask.permits > ask.limit)) {
    return "asked for " + std::to_string(ask.permits) + " permits: one ask may be for 1 to " +
           std::to_string(ask.limit) + ", the limit of this semaphore";
  }
  if (ask.run_id.size() > name_size_max || !is_valid_utf8(ask.run_id) ||
      has_control_character(ask.run_id)) {
    return "the run id must be plain text of at most " + std::to_string(name_size_max) + " bytes";
  }
  if (ask.value.size() > value_size_max) {
    return why_too_long(ask.value);
  }
  return {};
}

// Empty, or what this store cannot do.
std::string why_beyond(const Ask& ask, const Capabilities& store) {
  if (ask.limit != 0 && !store.permits) {
    return "this store has no semaphores";
  }
  if (ask.limit == 0 && ask.mode == Mode::shared && !store.shared) {
    return "this store has exclusive locks only, no readers";
  }
  if (!store.ttl && (ask.options.min_hold || ask.options.lock_delay)) {
    return "a lock of this store ends with its session, so it knows neither min_hold nor "
           "lock_delay";
  }
  if (!ask.run_id.empty() && !store.runs) {
    return "this store does not remember runs that are done";
  }
  if (!ask.value.empty() && !store.values) {
    return "this store keeps no value beside a lease";
  }
  return {};
}

}  // namespace

std::optional<Refusal> why_refused(const Ask& ask, const Capabilities& store) {
  if (auto refusal = wrong_name_or_times(ask.name, ask.options)) {
    return refusal;
  }
  if (std::string why = why_wrong(ask); !why.empty()) {
    return Refusal{errc::invalid_options, std::move(why)};
  }
  if (std::string why = why_beyond(ask, store); !why.empty()) {
    return Refusal{errc::unsupported, std::move(why)};
  }
  return std::nullopt;
}

std::string why_too_long(const std::string& value) {
  return "the value has " + std::to_string(value.size()) + " bytes: at most " +
         std::to_string(value_size_max) + " are kept";
}

void require_valid(const std::string& name, const LeaseOptions& options) {
  if (const auto refusal = wrong_name_or_times(name, options)) {
    throw Error{refusal->code, refusal->detail};
  }
}

}  // namespace holdfast::detail

// How the public classes pass on what an acquire ended in: by an exception or a code, with
// "somebody else holds it" as an answer where one attempt was asked for.
#pragma once

#include "engine/client_core.hpp"

#include <optional>
#include <system_error>
#include <utility>

namespace holdfast::detail {

inline Wait one_attempt() { return {.timeout = Duration{0}}; }

inline Lease granted(ClientCore::Outcome outcome) {
  if (outcome.code) {
    throw Error{outcome.code, std::move(outcome.detail)};
  }
  return std::move(outcome.lease);
}

inline Lease granted(ClientCore::Outcome outcome, std::error_code& ec) {
  ec = outcome.code;
  return std::move(outcome.lease);
}

// For one attempt.
inline std::optional<Lease> granted_or_busy(ClientCore::Outcome outcome) {
  if (outcome.code == errc::busy) {
    return std::nullopt;
  }
  return granted(std::move(outcome));
}

inline std::optional<Lease> granted_or_busy(ClientCore::Outcome outcome, std::error_code& ec) {
  ec = outcome.code == errc::busy ? std::error_code{} : outcome.code;
  return outcome.code ? std::nullopt : std::optional{std::move(outcome.lease)};
}

// For the faces of the standard library: no lease means that the wait ended without one.
inline std::optional<Lease> granted_in_time(ClientCore::Outcome outcome) {
  if (outcome.code == failure::not_acquired) {
    return std::nullopt;
  }
  return granted(std::move(outcome));
}

}  // namespace holdfast::detail

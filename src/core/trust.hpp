// The arithmetic of trust (docs/explanation/trust-window.md), in one place.
#pragma once

#include <holdfast/options.hpp>
#include <holdfast/types.hpp>

#include "base/mutation.hpp"

#include <algorithm>

namespace holdfast {

inline Duration default_margin(Duration ttl) {
  if (mutated(Mutation::no_margin)) {
    return Duration{0};
  }
  return std::min<Duration>(std::chrono::seconds{2}, ttl / 10) + ttl / 1000;
}

inline Duration margin_of(const LeaseOptions& options, Duration ttl) {
  return options.safety_margin.value_or(default_margin(ttl));
}

// `sent` is the sending of the request whose answer granted `ttl`, never the arrival of the reply.
inline Instant trusted_until(Instant sent, Duration ttl, Duration margin) {
  return sent + ttl - margin;
}

inline Duration renew_interval(Duration ttl) {
  return std::min<Duration>(ttl / 3, std::chrono::seconds{10});
}

// How long a waiter keeps its place in the queue without a beat.
inline Duration liveness_of(Duration ttl) {
  return std::min<Duration>(ttl, std::chrono::seconds{5});
}

// No waiter looks away for longer than this, whatever wake-ups do.
inline constexpr Duration recheck_max = std::chrono::seconds{2};

}  // namespace holdfast

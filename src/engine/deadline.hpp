// When a wait ends.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/options.hpp>

#include <algorithm>
#include <optional>

namespace holdfast::detail {

// Unset: never. A timeout that is too long to add is as good as ten years.
inline std::optional<Instant> deadline_of(const Wait& wait, Instant now) {
  if (!wait.timeout) {
    return std::nullopt;
  }
  return now + std::clamp(*wait.timeout, Duration{0}, ttl_max);
}

}  // namespace holdfast::detail

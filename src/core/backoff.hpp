// How long to wait before trying again: doubling, bounded, spread so that clients that failed
// together do not come back together.
#pragma once

#include <holdfast/types.hpp>

#include <algorithm>

namespace holdfast {

template <int first_ms, int longest_ms>
class BackoffBetween {
 public:
  // `spread` is any number that differs between clients, e.g. bits of an owner.
  explicit BackoffBetween(std::uint64_t spread) noexcept : spread_(spread) {}

  Duration next() noexcept {
    const Duration full = current_;
    current_ = std::min<Duration>(current_ * 2, std::chrono::milliseconds{longest_ms});
    spread_ = spread_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
    const auto eighths = static_cast<std::int64_t>(spread_ >> 61U);
    return full - full * eighths / 16;
  }
  void reset() noexcept { current_ = std::chrono::milliseconds{first_ms}; }

 private:
  std::uint64_t spread_;
  Duration current_ = std::chrono::milliseconds{first_ms};
};

using Backoff = BackoffBetween<50, 800>;          // of a store that failed
using CollisionBackoff = BackoffBetween<2, 256>;  // of clients that are in each other's way

}  // namespace holdfast

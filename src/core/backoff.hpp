// How long to wait before trying again: doubling, bounded, spread so that clients that failed
// together do not come back together.
#pragma once

#include <holdfast/types.hpp>

#include <algorithm>

namespace holdfast {

class Backoff {
 public:
  // `spread` is any number that differs between clients, e.g. bits of an owner.
  explicit Backoff(std::uint64_t spread) noexcept : spread_(spread) {}

  Duration next() noexcept {
    const Duration full = current_;
    current_ = std::min(current_ * 2, longest);
    spread_ = spread_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
    const auto eighths = static_cast<std::int64_t>(spread_ >> 61U);
    return full - full * eighths / 16;
  }
  void reset() noexcept { current_ = shortest; }

 private:
  static constexpr Duration shortest = std::chrono::milliseconds{50};
  static constexpr Duration longest = std::chrono::milliseconds{800};

  std::uint64_t spread_;
  Duration current_ = shortest;
};

}  // namespace holdfast

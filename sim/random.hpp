// All chance in a simulated world: one stream from one seed, the same on every machine and compiler
// (the standard's distributions are not). Generator: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include <holdfast/types.hpp>

#include <cstdint>
#include <span>

namespace holdfast::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  // 0 <= result < bound. The bias of the remainder does not matter here. `bound` is positive.
  std::uint64_t below(std::uint64_t bound) { return bits() % bound; }

  // low <= result <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  Duration between(Duration low, Duration high) {
    return Duration{between(low.count(), high.count())};
  }

  // True `per_mille` times in a thousand.
  bool chance(int per_mille) { return below(1000) < static_cast<std::uint64_t>(per_mille); }

  // Mostly near `low`, now and then near `high`: most waits are short, a few are long.
  Duration mostly_short(Duration low, Duration high) {
    const Duration span = high - low;
    return chance(850) ? between(low, low + span / 8) : between(low, high);
  }

  template <class T>
  const T& pick(std::span<const T> choices) {
    return choices[static_cast<std::size_t>(below(choices.size()))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::sim

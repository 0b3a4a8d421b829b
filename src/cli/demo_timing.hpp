// The tempo of `holdfast demo payout`: quick to watch, slow enough for a busy machine.
#pragma once

#include <holdfast/types.hpp>

#include <algorithm>
#include <cstdint>

namespace holdfast::cli {

inline constexpr Duration demo_ttl = std::chrono::milliseconds{1500};
inline constexpr Duration demo_limit = std::chrono::seconds{60};  // then something is wrong
inline constexpr std::int64_t demo_batch = 10;                    // orders read and paid at once
inline constexpr std::int64_t demo_orders_min = 4 * demo_batch;
inline constexpr std::int64_t demo_orders_max = 100'000;
inline constexpr int demo_instances_min = 2;
inline constexpr int demo_instances_max = 64;
inline constexpr int demo_bank_ms = 20;  // what a batch takes at the bank

// The first holder is frozen when it is about to write this batch, counted from 0.
constexpr std::int64_t demo_frozen_batch(std::int64_t orders) {
  return std::min<std::int64_t>(5, orders / demo_batch / 4);
}

}  // namespace holdfast::cli

// The hash slot of a key, as Redis Cluster computes it: CRC16 (XMODEM) of the key, or of the text
// in its first {…}, modulo 16384. Source: the Redis Cluster specification, "Key distribution
// model".
//
//   slot_of("lock:payout") == slot_of("lock:{lock:payout}\x1f" "fence\x1f" "lock:payout")
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::cluster {

using Slot = std::uint16_t;

inline constexpr Slot slot_count = 16384;

std::uint16_t crc16(std::string_view bytes) noexcept;

Slot slot_of(std::string_view key) noexcept;

}  // namespace holdfast::cluster

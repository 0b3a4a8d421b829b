// holdfast/types.hpp: the words every other header uses. Depends on the standard library only.
//
//   holdfast::Fence fence = lease.fence();          // hand this number to the storage
//   std::int64_t column = holdfast::to_int(fence);  // it fits a signed 64-bit column
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

using Duration = std::chrono::nanoseconds;

// Time since the machine booted, suspend included (CLOCK_BOOTTIME). std::chrono::steady_clock
// stands still while a laptop sleeps or a virtual machine is suspended; a lease does not.
// The core never calls now(): it is told the time by whoever drives it.
struct BootClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};
using Instant = BootClock::time_point;

// A fencing token. For one name, a later grant always has a greater fence; renewal keeps it.
// Hand it to the storage you write to; the storage refuses anything lower than it has seen.
// Always positive; `none` means "no grant".
enum class Fence : std::int64_t { none = 0 };

constexpr std::int64_t to_int(Fence fence) noexcept { return static_cast<std::int64_t>(fence); }

// Identifies one attempt at one name by one process: 128 random bits from the kernel, never
// reused, so a delayed renewal or release of an old attempt can never touch a newer one.
struct OwnerId {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const OwnerId&) const = default;  // NOLINT(modernize-use-nullptr): not one

  std::string text() const;                                             // 32 lower-case hex digits
  static std::optional<OwnerId> parse(std::string_view text) noexcept;  // the reverse of text()
};

// Exclusive: one holder. Shared: many holders, and no exclusive one beside them.
enum class Mode : std::uint8_t { exclusive, shared };

}  // namespace holdfast

template <>
struct std::hash<holdfast::OwnerId> {
  std::size_t operator()(const holdfast::OwnerId& owner) const noexcept {
    std::size_t value = 0;  // the bits are random already: any eight of them are a good hash
    for (std::size_t i = 0; i < sizeof value; ++i) {
      value = (value << 8U) | owner.bytes[i];
    }
    return value;
  }
};

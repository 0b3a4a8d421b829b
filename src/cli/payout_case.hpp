// What `holdfast demo payout --matrix` tries: each way to be safe against each fault.
#pragma once

#include <array>
#include <cstdint>

namespace holdfast::cli {

enum class PayoutWay : std::uint8_t {
  none,         // the lock alone: read, pay, mark as paid
  row_fence,    // UPDATE … WHERE order_id = $1 AND fence < $2
  admit,        // the resource guard, before reading and before each write
  unique_key,   // a payout's order is unique
  version,      // UPDATE … WHERE order_id = $1 AND version = $2
  skip_locked,  // FOR UPDATE SKIP LOCKED, and no lock at all
};
inline constexpr std::array payout_ways{PayoutWay::none,    PayoutWay::row_fence,
                                        PayoutWay::admit,   PayoutWay::unique_key,
                                        PayoutWay::version, PayoutWay::skip_locked};

enum class PayoutFault : std::uint8_t {
  none,
  pause,      // the holder is stopped between its read and its write, past its lease
  kill,       // the holder is killed half-way through a batch
  lost_lock,  // the lock is taken from the store while the holder is about to write
  failover,   // the store fails over to a replica that never heard of the lock
};
inline constexpr std::array payout_faults{PayoutFault::none, PayoutFault::pause, PayoutFault::kill,
                                          PayoutFault::lost_lock, PayoutFault::failover};

// The words of the table and of --json.
constexpr const char* text_of(PayoutWay way) {
  switch (way) {
    case PayoutWay::none:
      return "the lock alone";
    case PayoutWay::row_fence:
      return "row fence";
    case PayoutWay::admit:
      return "resource guard";
    case PayoutWay::unique_key:
      return "unique key";
    case PayoutWay::version:
      return "version";
    case PayoutWay::skip_locked:
      return "SKIP LOCKED, no lock";
  }
  return "";
}
constexpr const char* text_of(PayoutFault fault) {
  switch (fault) {
    case PayoutFault::none:
      return "no fault";
    case PayoutFault::pause:
      return "pause";
    case PayoutFault::kill:
      return "kill -9";
    case PayoutFault::lost_lock:
      return "lost lock";
    case PayoutFault::failover:
      return "failover";
  }
  return "";
}

constexpr bool uses_lock(PayoutWay way) { return way != PayoutWay::skip_locked; }
constexpr bool guarded_by_database(PayoutWay way) { return way != PayoutWay::none; }
constexpr bool needs_lock(PayoutFault fault) {
  return fault == PayoutFault::lost_lock || fault == PayoutFault::failover;
}

}  // namespace holdfast::cli

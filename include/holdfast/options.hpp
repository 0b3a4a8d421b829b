// holdfast/options.hpp: plain aggregates with safe defaults, made for designated initializers:
//
//   holdfast::Mutex mutex{client, "payout", {.ttl = 10s, .note = "nightly run"}};
//   auto lease = mutex.acquire({.timeout = 5s, .stop = token});
#pragma once

#include <holdfast/types.hpp>

#include <optional>
#include <stop_token>
#include <string>

namespace holdfast {

// How a lease lives. All values are the holder's: others see them in the record.
// Out of range, contradicting, zero or negative times are errc::invalid_options before anything is
// sent. The store rounds sub-unit values up.
struct LeaseOptions {
  // How long the store keeps the lease if this process vanishes. At least 100 ms, at most 10 years.
  Duration ttl = std::chrono::seconds{30};

  // The process stops trusting its lease this long before the store may give it away. Covers clock
  // drift and scheduling delay. Unset: min(2 s, ttl/10) + ttl/1000. Must be below ttl/2.
  std::optional<Duration> safety_margin{};

  // False: the lease is never renewed, only verified; it ends one TTL after its grant.
  bool renew = true;

  // No renewal carries the lease past grant + max_hold. Unset: no bound.
  std::optional<Duration> max_hold{};

  // The record lasts to at least grant + min_hold, even after a release or a crash.
  std::optional<Duration> min_hold{};

  // The store keeps the record this much longer than the holder trusts it, so that writes without
  // a fence that are still in flight can land before the next holder starts.
  std::optional<Duration> lock_delay{};

  // Free text for people, shown by `holdfast ls`: at most 200 bytes, no control characters.
  std::string note{};
};

// How to wait. The default waits for ever; a timeout of zero makes one attempt.
struct Wait {
  std::optional<Duration> timeout{};
  std::stop_token stop{};
};

}  // namespace holdfast

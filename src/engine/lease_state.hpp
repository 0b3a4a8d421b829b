// What a Lease handle and the engine share about one lease.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include "base/fork_generation.hpp"

#include <atomic>
#include <memory>
#include <stop_token>

namespace holdfast::detail {

class ClientCore;

// `phase` moves from held to one of the others, once, by whoever wins the exchange: the watchdog
// (lost) or the holder (released, abandoned). So a loss is never told after a release.
enum class LeasePhase : std::uint8_t { held, lost, released, abandoned };

struct LeaseState {
  LeaseState(Claim granted, const LeaseOptions& lease_options, Fence the_fence, Fence the_floor,
             Instant until)
      : claim(std::move(granted)),
        options(lease_options),
        fence(the_fence),
        floor(the_floor),
        trusted_until(until.time_since_epoch().count()) {}

  const Claim claim;
  const LeaseOptions options;
  const Fence fence;
  const Fence floor;
  const unsigned born_in = fork_generation();  // a forked child holds nothing: nobody renews there
  bool tombstone = false;  // an acquire of this owner may still be on its way to the store
  std::atomic<Instant::rep> trusted_until;
  std::atomic<LeasePhase> phase{LeasePhase::held};
  std::atomic<errc> why{};
  std::atomic<bool> stale{false};  // a guard refused the fence; the engine will say that it is lost
  std::stop_source lost{};
  std::shared_ptr<ClientCore> core{};  // unset in the simulator, which has no blocking calls

  Instant trusted() const noexcept {
    return Instant{Duration{trusted_until.load(std::memory_order_acquire)}};
  }
  bool valid(Instant now) const noexcept {
    return phase.load(std::memory_order_acquire) == LeasePhase::held && now < trusted() && !stale &&
           born_in == fork_generation();
  }
  // True for the one caller that ends the hold.
  bool leave_held(LeasePhase next) noexcept {
    LeasePhase held = LeasePhase::held;
    return phase.compare_exchange_strong(held, next, std::memory_order_acq_rel);
  }
};

}  // namespace holdfast::detail

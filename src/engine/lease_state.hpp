// What a Lease handle and the engine share about one lease.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>

#include "base/fork_generation.hpp"
#include "engine/thread_number.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace holdfast::detail {

class ClientCore;

// `phase` moves from held to one of the others, once, by whoever wins the exchange: the watchdog
// (lost) or the holder (released, abandoned). So a loss is never told after a release.
enum class LeasePhase : std::uint8_t { held, lost, released, abandoned };

// What is left to know of a granted claim. There may be 100 000 of these in a process, so what only
// the grant needed is not kept.
struct HeldClaim {
  explicit HeldClaim(const Claim& granted)
      : name(granted.name),
        owner(granted.owner),
        ttl(granted.ttl),
        lock_delay(granted.lock_delay),
        run(run_mark(granted.run_id)),
        permits(granted.permits),
        limit(granted.limit),
        mode(granted.mode) {}

  // Tells the runs of one job apart, to catch a lease that is finished as another run.
  static std::size_t run_mark(const std::string& run_id) {
    return run_id.empty() ? 0 : std::hash<std::string>{}(run_id);
  }

  // As renew(), amend() and withdraw() want it.
  operator Claim() const {
    Claim claim;
    claim.name = name;
    claim.owner = owner;
    claim.ttl = ttl;
    claim.lock_delay = lock_delay;
    claim.permits = permits;
    claim.limit = limit;
    claim.mode = mode;
    return claim;
  }

  const std::string name;
  const OwnerId owner;
  const Duration ttl;
  const Duration lock_delay;
  const std::size_t run;
  const std::uint32_t permits;
  const std::uint32_t limit;
  // A downgrade changes it, on the loop's thread.
  mutable std::atomic<Mode> mode;
};

struct LeaseState {
  LeaseState(const Claim& granted, Fence the_fence, Fence the_floor, Instant until)
      : claim(granted),
        fence(the_fence),
        floor(the_floor),
        trusted_until(until.time_since_epoch().count()) {}

  const HeldClaim claim;
  const Fence fence;
  const Fence floor;
  std::atomic<Instant::rep> trusted_until;
  std::stop_source lost{};
  std::shared_ptr<ClientCore> core{};  // unset in the simulator, which has no blocking calls
  const unsigned born_in = fork_generation();  // a forked child holds nothing: nobody renews there
  std::atomic<errc> why{};
  std::atomic<LeasePhase> phase{LeasePhase::held};
  std::atomic<bool> stale{false};  // a guard refused the fence; the engine will say that it is lost
  bool tombstone = false;          // an acquire of this owner may still be on its way to the store
  std::uint32_t thread = no_thread;  // that took it by a blocking call

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

// holdfast/lease.hpp: the proof that you hold something, for as long as you may believe it.
//
//   Lease lease = mutex.acquire({.timeout = 5s});
//   write_row(order, to_int(lease.fence()));  // the storage refuses it if we came back too late
//   if (lease.lost().stop_requested()) { return; }
//
// Not a proof that nobody else is inside: a process can be paused between asking valid() and
// writing. Only a guard in the storage closes that gap; see holdfast/guard.hpp.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include <memory>
#include <stop_token>
#include <string>
#include <system_error>

namespace holdfast {

namespace detail {
struct LeaseState;
class ClientCore;
}  // namespace detail

// |           | watchdog renews | lost() requested | record in the store   |
// |-----------|-----------------|------------------|-----------------------|
// | held      | yes             | no               | ours                  |
// | lost      | no              | yes              | unknown, or another's |
// | released  | no              | no               | removed               |
// | abandoned | no              | no               | ours until its TTL    |
//
// Move-only. Destroying it releases, bounded by 2 s, and never throws; the TTL is the safety net.
// A default-constructed or moved-from Lease holds nothing. valid(), trusted_until(), lost() and
// why_lost() may be called from any thread; the rest by one thread at a time.
class [[nodiscard]] Lease {
 public:
  Lease() noexcept;
  explicit Lease(std::shared_ptr<detail::LeaseState> state) noexcept;  // for the engine
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;  // releases what *this held
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  // True if this object was given a lease and has not released or abandoned it.
  explicit operator bool() const noexcept;

  // True while the trust window is open and the lease is not known to be lost.
  bool valid() const noexcept;
  // The instant at which valid() turns false unless a renewal is confirmed before.
  Instant trusted_until() const noexcept;

  Fence fence() const noexcept;
  Fence floor() const noexcept;  // the lowest fence alive at the grant; exclusive mode: fence()
  OwnerId owner() const noexcept;
  const std::string& name() const noexcept;
  Duration ttl() const noexcept;  // as the store granted it

  // Stop is requested once, when the lease is lost, at or before trusted_until(); never after a
  // release. Its callbacks run on a notifier thread.
  std::stop_token lost() const noexcept;
  // Empty while not lost; else errc::expired, taken, broken, max_hold or stale_fence.
  std::error_code why_lost() const noexcept;

  // A guard refused this lease's fence: somebody newer has written. Ends trust at once.
  void report_stale() noexcept;

  // Gives the lease back and waits for the store's answer, at most op_timeout. Idempotent. Errors:
  // the reason of the loss if it was lost before; not_owner; outcome_unknown (clean-up goes on in
  // the background).
  void release();
  void release(std::error_code& ec) noexcept;

  // Stops renewing and leaves the record to its TTL.
  void abandon() noexcept;

 private:
  friend class detail::ClientCore;

  std::shared_ptr<detail::LeaseState> state_{};
};

}  // namespace holdfast

// holdfast/acquire_all.hpp: several names at once, all or none.
//
//   LeaseGroup both = acquire_all(client, {"account/7", "account/9"}, {}, {.timeout = 5s});
//   transfer(both.leases()[0].fence(), both.leases()[1].fence());
//
// When not: if the names are always taken together, one name for all of them is faster and fair.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace holdfast {

namespace detail {
struct GroupState;
}

inline constexpr std::size_t names_at_once_max = 100;

// The leases of acquire_all(). Move-only. Destroying it releases all, bounded by 2 s, and never
// throws. valid(), trusted_until(), lost() and why_lost() may be called from any thread; the rest
// by one thread at a time.
class [[nodiscard]] LeaseGroup {
 public:
  LeaseGroup() noexcept;
  explicit LeaseGroup(std::unique_ptr<detail::GroupState> state) noexcept;  // for the engine
  LeaseGroup(LeaseGroup&& other) noexcept;
  LeaseGroup& operator=(LeaseGroup&& other) noexcept;  // releases what *this held
  LeaseGroup(const LeaseGroup&) = delete;
  LeaseGroup& operator=(const LeaseGroup&) = delete;
  ~LeaseGroup();

  explicit operator bool() const noexcept;  // was given leases and has not released them

  // In the order in which the names were given; each with its own fence. Empty if there are none.
  std::span<const Lease> leases() const noexcept;

  bool valid() const noexcept;             // every one of them is
  Instant trusted_until() const noexcept;  // the first end among them

  // Requested once, as soon as one of them is lost; never after a release. The others are held on,
  // until the group is released. Its callbacks run on a notifier thread.
  std::stop_token lost() const noexcept;
  std::error_code why_lost() const noexcept;  // of the first of them that is; empty while none is

  // Gives all back and waits for the store's answers, at most 2 s for all. Idempotent. Errors: as
  // those of Lease::release(), the first that is met.
  void release();
  void release(std::error_code& ec) noexcept;

 private:
  std::unique_ptr<detail::GroupState> state_;
};

// Holds all of `names` (1 to 100, different, in any order), or none. Where the store can grant them
// in one step it does; else they are taken one after the other, and given back if one is busy.
// Whoever waits holds nothing meanwhile, so no order of names dead-locks, and nothing that is half
// held is renewed. Waiting is in line for one name at a time: those who want only one of the names
// can overtake. Throws Error: busy or timed_out, cancelled, would_deadlock (the calling thread
// itself holds one of them), invalid_name, invalid_options, or a failure. With `ec` the group is
// empty then.
LeaseGroup acquire_all(Client& client, const std::vector<std::string>& names,
                       const LeaseOptions& options = {}, const Wait& wait = {});
LeaseGroup acquire_all(Client& client, const std::vector<std::string>& names,
                       const LeaseOptions& options, const Wait& wait, std::error_code& ec);

}  // namespace holdfast

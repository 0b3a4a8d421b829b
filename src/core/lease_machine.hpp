// The watchdog of one lease: when to renew, and when to stop believing. Pure: it is told the time
// and what arrived, and says what to do next; src/engine does it.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include "core/backoff.hpp"

#include <optional>

namespace holdfast {

enum class LeaseAction : std::uint8_t {
  wait,   // nothing, until next_timer() or the next event
  renew,  // send a renewal with renew_ttl() now; its reply goes to on_reply()
  lose,   // trust ends now for why(); tell the holder, once
};

// |        | renewed        | gone | failed         | verify      | trust is over   | stale |
// |--------|----------------|------|----------------|-------------|-----------------|-------|
// | held   | trust moves on | lose | wait (backoff) | renew       | lose (expired,  | lose  |
// |        |                |      |                |             | or max_hold)    |       |
// | lost   | (ignored)      |      |                | (ignored)   |                 |       |
//
// Trust counts from the sending of the renewal that was answered, never from its reply. At most
// one renewal is in flight; a failed one never stops the next.
class LeaseMachine {
 public:
  struct Grant {
    Duration ttl{};  // as the store granted it
    Instant sent{};  // the sending of the request that was granted
    Instant trusted_until{};
    bool provisional = false;
  };
  LeaseMachine(const LeaseOptions& options, const Grant& grant, std::uint64_t spread);

  LeaseAction start(Instant now);
  LeaseAction on_reply(const RenewReply& reply, Instant now);
  // A renewal that is due within `ahead` may go out now, to share a batch with others.
  LeaseAction on_timer(Instant now, Duration ahead = Duration{0});
  LeaseAction verify(Instant now);  // the store raised a doubt: ask now
  LeaseAction stale();              // a guard refused our fence

  Instant trusted_until() const noexcept { return trusted_until_; }
  // When the store itself lets go, if it heard nothing after our last answered request.
  Instant expires() const noexcept { return trusted_until_ + margin_ + lock_delay_; }
  // Changes with every call above and with no other.
  std::optional<Instant> next_timer() const noexcept;
  // For the renewal that was last asked for.
  Duration renew_ttl() const noexcept { return renew_ttl_; }
  bool lost() const noexcept { return why_ != errc{}; }
  bool renewing() const noexcept { return fixed_end_ == never; }  // false: only verifying
  errc why() const noexcept { return why_; }

 private:
  static constexpr Instant never = Instant::max();  // smaller than an optional: there are many

  LeaseAction lose(errc why);
  LeaseAction renew(Instant now);
  void extend(Duration ttl);
  Instant lose_at() const noexcept;

  Duration ttl_;
  Duration renew_ttl_;
  Duration margin_;
  Duration lock_delay_;
  Instant sent_;  // of the request that trust counts from
  Instant trusted_until_;
  Instant trust_cap_ = never;  // grant + max_hold - margin
  Instant fixed_end_ = never;  // of a lease that is not renewed
  Instant renew_at_ = never;   // never: in flight
  Instant renewal_sent_{};
  Backoff backoff_;
  errc why_{};
  bool provisional_;
  bool in_flight_ = false;
  bool again_ = false;
  bool capped_by_store_ = false;  // max_hold left less than a full TTL
};

}  // namespace holdfast

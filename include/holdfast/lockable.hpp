// holdfast/lockable.hpp: what the faces of the standard library (Lockable, TimedLockable,
// SharedTimedLockable) have in common. Included by the mutexes; nothing here is for direct use.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/types.hpp>

#include <chrono>

namespace holdfast::detail {

class HeldByThread;

// A huge or negative timeout must neither overflow nor wait for ever.
template <class Rep, class Period>
Duration timeout_of(const std::chrono::duration<Rep, Period>& timeout) {
  using Seconds = std::chrono::duration<double>;
  if (Seconds{timeout} >= Seconds{ttl_max}) {
    return ttl_max;
  }
  return timeout.count() < 0 ? Duration{0} : std::chrono::ceil<Duration>(timeout);
}

// In floating point: a deadline far away, in either direction, must not overflow.
template <class Clock, class Dur>
Duration timeout_until(const std::chrono::time_point<Clock, Dur>& deadline) {
  using Seconds = std::chrono::duration<double>;
  return timeout_of(Seconds{deadline.time_since_epoch()} -
                    Seconds{Clock::now().time_since_epoch()});
}

}  // namespace holdfast::detail

// The rows of a lock file as values, and the arithmetic of their times. Pure: no clock, no SQL.
#pragma once

#include <holdfast/claim.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace holdfast::sqlite {

// Durations of up to 292 years are legal in a claim, so a sum may not fit: it stops at the end of
// time instead of wrapping into the past.
inline Instant later(Instant from, Duration by) {
  return by > Instant::max() - from ? Instant::max() : from + by;
}
inline Duration left(Instant end, Instant now) { return std::max(end - now, Duration{0}); }

struct LeaseRow {
  enum class State : std::uint8_t {
    idle = 0,  // nobody has the name; the row only keeps its fence
    held = 1,
    broken = 2,    // held, and marked by an operator
    released = 3,  // a tombstone of min_hold: the name is not free, but nobody is inside
  };

  std::int64_t id = 0;
  Fence fence = Fence::none;
  State state = State::idle;
  Instant expires{};
  OwnerId owner{};
  Instant granted_at{};
  Duration lock_delay{};
  std::optional<Instant> min_end{};
  std::optional<Instant> max_end{};  // lock_delay included
  Who who{};

  bool is_live(Instant now) const { return state != State::idle && now < expires; }
  bool is_held_by(const OwnerId& whom) const {
    return (state == State::held || state == State::broken) && owner == whom;
  }
  Holder view(Instant now) const {
    return {owner,
            Mode::exclusive,
            fence,
            who,
            now - granted_at,
            left(expires, now),
            state == State::broken,
            state == State::released};
  }
};

struct WaiterRow {
  std::int64_t ticket = 0;
  OwnerId owner{};
  Instant alive_until{};  // the last beat + liveness
  Instant joined_at{};
  Duration lock_delay{};
  Duration min_hold{};
  Duration max_hold{};
  Who who{};

  bool is_alive(Instant now) const { return now <= alive_until; }
};

// A new hold, without its expiry.
inline LeaseRow new_hold(const OwnerId& owner, Duration lock_delay, Duration min_hold,
                         Duration max_hold, const Who& who, Instant now) {
  LeaseRow row;
  row.state = LeaseRow::State::held;
  row.owner = owner;
  row.granted_at = now;
  row.lock_delay = lock_delay;
  row.who = who;
  if (min_hold > Duration{0}) {
    row.min_end = later(now, min_hold);
  }
  if (max_hold > Duration{0}) {
    row.max_end = later(later(now, max_hold), lock_delay);
  }
  return row;
}

// Moves the expiry of a hold; returns how long the holder may count on, seen from now.
inline Duration refresh(LeaseRow& row, Duration ttl, Instant now) {
  Instant end = later(later(now, ttl), row.lock_delay);
  if (row.max_end) {
    end = std::min(end, *row.max_end);
  }
  row.expires = row.min_end ? std::max(end, *row.min_end) : end;
  return left(end - row.lock_delay, now);
}

// A hand-off ends where the waiter's place in the queue would have ended; the waiter's next
// request makes it a full lease.
inline void make_provisional(LeaseRow& row, Instant alive_until) {
  row.expires = later(alive_until, row.lock_delay);
  if (row.max_end) {
    row.expires = std::min(row.expires, *row.max_end);
  }
}

}  // namespace holdfast::sqlite

// The rows of a lock file as values, and the arithmetic of their times. Pure: no clock, no SQL.
#pragma once

#include <holdfast/claim.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace holdfast::sqlite {

// Durations of up to 292 years are legal in a claim, so a sum may not fit: it stops at the end of
// time instead of wrapping into the past.
inline Instant later(Instant from, Duration by) {
  return by > Instant::max() - from ? Instant::max() : from + by;
}
inline Duration left(Instant end, Instant now) { return std::max(end - now, Duration{0}); }

// A row of `lease`: one hold, or the last fence of a name that nobody holds.
struct LeaseRow {
  enum class State : std::uint8_t {
    idle = 0,  // nobody's; it only keeps the fence
    held = 1,
    broken = 2,    // held, and marked by an operator
    released = 3,  // a tombstone of min_hold: it counts, but nobody is inside
  };

  std::int64_t id = 0;
  Fence fence = Fence::none;
  Fence floor = Fence::none;
  State state = State::idle;
  Mode mode = Mode::exclusive;
  std::uint32_t permits = 1;
  std::uint32_t limit = 0;
  Instant expires{};
  OwnerId owner{};
  Instant granted_at{};
  Duration lock_delay{};
  std::optional<Instant> min_end{};
  std::optional<Instant> max_end{};  // lock_delay included
  Who who{};
  std::string value{};

  bool is_live(Instant now) const { return state != State::idle && now < expires; }
  bool is_held_by(const OwnerId& whom) const {
    return (state == State::held || state == State::broken) && owner == whom;
  }
  Holder view(Instant now) const {
    return {owner,
            mode,
            fence,
            who,
            now - granted_at,
            left(expires, now),
            state == State::broken,
            state == State::released,
            permits,
            limit,
            value};
  }
};

struct WaiterRow {
  std::int64_t ticket = 0;
  Claim claim{};          // all that a grant needs
  Instant alive_until{};  // the last beat + liveness
  Instant joined_at{};

  bool is_alive(Instant now) const { return now <= alive_until; }
};

// A run that is done, until `ends`.
struct DoneRow {
  OwnerId owner{};
  Instant ends{};
};

// The boot that runs: its row in `clock`, and when its first process met the file.
struct Boot {
  std::int64_t id = 0;
  Instant met_at{};
  std::int64_t met_at_unix_us = 0;
};

// When a mark of an earlier boot ends. Its time since then is only known by the wall clock, which
// is read once a boot. Set back, it makes a mark last longer: by `remember` from here at most.
inline Instant end_in_later_boot(const Boot& boot, std::int64_t end_unix_us, Duration remember) {
  const std::int64_t left_us = std::max<std::int64_t>(end_unix_us - boot.met_at_unix_us, 0);
  const Duration longest = Duration::max() / 2;
  const Duration rest = left_us > longest / std::chrono::microseconds{1}
                            ? longest
                            : Duration{std::chrono::microseconds{left_us}};
  return later(boot.met_at, std::min(rest, remember));
}

// A new hold, without its fence and expiry.
inline LeaseRow new_hold(const Claim& claim, Instant now) {
  LeaseRow row;
  row.state = LeaseRow::State::held;
  row.mode = claim.mode;
  row.permits = claim.permits;
  row.limit = claim.limit;
  row.owner = claim.owner;
  row.granted_at = now;
  row.lock_delay = claim.lock_delay;
  row.who = claim.who;
  row.value = claim.value;
  if (claim.min_hold > Duration{0}) {
    row.min_end = later(now, claim.min_hold);
  }
  if (claim.max_hold > Duration{0}) {
    row.max_end = later(later(now, claim.max_hold), claim.lock_delay);
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

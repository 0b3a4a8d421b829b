#include "store/sqlite/name_table.hpp"

#include <sqlite3.h>

namespace holdfast::sqlite {

namespace {

constexpr std::int64_t sweep_rows_max = 3;
constexpr Duration idle_row_life = std::chrono::hours{1};
constexpr Duration dead_waiter_life = std::chrono::minutes{1};
constexpr std::int64_t wakes_kept = 1024;

// Where a sweep starts: any row may come next, so no long-lived row can hide the others.
std::int64_t start_of_sweep(std::uint64_t chance, std::int64_t span) {
  return static_cast<std::int64_t>(chance % static_cast<std::uint64_t>(span));
}

}  // namespace

std::optional<LeaseRow> NameTable::find(const std::string& name) {
  auto rows = find_.run(name);
  return rows.next() ? std::optional{read_lease(rows)} : std::nullopt;
}

void NameTable::put(const std::string& name, const LeaseRow& row) {
  const auto state = static_cast<std::int64_t>(row.state);
  if (row.id == 0) {
    insert_.apply(name, row.fence, state, clock_, row.expires, row.owner, row.granted_at,
                  row.lock_delay, row.min_end, row.max_end, row.who.host, row.who.pid,
                  row.who.note);
  } else {
    update_.apply(row.id, row.fence, state, clock_, row.expires, row.owner, row.granted_at,
                  row.lock_delay, row.min_end, row.max_end, row.who.host, row.who.pid,
                  row.who.note);
  }
}

void NameTable::set_expiry(const LeaseRow& row) {
  set_expiry_.apply(row.id, static_cast<std::int64_t>(row.state), row.expires);
}

Fence NameTable::fence_floor() {
  auto rows = floor_.run();
  return rows.next() ? rows.fence(0) : Fence::none;
}

std::optional<WaiterRow> NameTable::living_head(const std::string& name, Instant now) {
  std::optional<WaiterRow> head;
  std::vector<std::int64_t> dead;
  {
    auto rows = queue_.run(name);
    while (!head && rows.next()) {
      WaiterRow waiter = read_waiter(rows);
      if (waiter.is_alive(now)) {
        head = std::move(waiter);
      } else {
        dead.push_back(waiter.ticket);
      }
    }
  }
  for (const std::int64_t ticket : dead) {
    leave_.apply(ticket);
  }
  return head;
}

std::vector<WaiterRow> NameTable::living_waiters(const std::string& name, Instant now) {
  std::vector<WaiterRow> living;
  for (auto rows = queue_.run(name); rows.next();) {
    WaiterRow waiter = read_waiter(rows);
    if (waiter.is_alive(now)) {
      living.push_back(std::move(waiter));
    }
  }
  return living;
}

std::optional<WaiterRow> NameTable::find_waiter(const std::string& name, const OwnerId& owner) {
  auto rows = find_waiter_.run(name, owner);
  return rows.next() ? std::optional{read_waiter(rows)} : std::nullopt;
}

void NameTable::join(const Claim& claim, Instant now) {
  join_.apply(claim.name, claim.owner, clock_, later(now, claim.liveness), now, claim.ttl,
              claim.lock_delay, claim.min_hold, claim.max_hold, claim.who.host, claim.who.pid,
              claim.who.note);
}

void NameTable::beat(std::int64_t ticket, Instant alive_until) { beat_.apply(ticket, alive_until); }

void NameTable::leave(std::int64_t ticket) { leave_.apply(ticket); }

bool NameTable::is_entombed(const OwnerId& owner, Instant now) {
  auto rows = entombed_.run(owner, clock_, now);
  return rows.next();
}

void NameTable::entomb(const OwnerId& owner, Instant until, Instant now) {
  entomb_.apply(owner, clock_, until);
  forget_tombs_.apply(now, sweep_rows_max);
}

void NameTable::log_wake(WakeRow::Kind kind, const OwnerId& owner, Fence fence) {
  log_wake_.apply(static_cast<std::int64_t>(kind), owner, fence);
  trim_wakes_.apply(sqlite3_last_insert_rowid(database_.handle()) - wakes_kept);
}

std::int64_t NameTable::last_wake() {
  auto rows = last_wake_.run();
  return rows.next() ? rows.integer(0) : 0;
}

std::optional<std::vector<WakeRow>> NameTable::wakes_after(std::int64_t seq) {
  std::vector<WakeRow> wakes;
  for (auto rows = wakes_after_.run(seq); rows.next();) {
    wakes.push_back({rows.integer(0), static_cast<WakeRow::Kind>(rows.integer(1)), rows.owner(2),
                     rows.fence(3)});
  }
  if (!wakes.empty() && wakes.front().seq != seq + 1) {
    return std::nullopt;
  }
  return wakes;
}

void NameTable::sweep(std::uint64_t chance, Instant now) {
  sweep_leases(chance, now);
  sweep_waiters(chance, now);
}

void NameTable::sweep_leases(std::uint64_t chance, Instant now) {
  struct Idle {
    std::int64_t id;
    Fence fence;
  };
  std::vector<Idle> idle;
  {
    auto span = lease_span_.run();
    if (!span.next() || span.integer(0) <= 1) {
      return;
    }
    auto rows = idle_leases_.run(start_of_sweep(chance, span.integer(0)), sweep_rows_max, clock_,
                                 now - idle_row_life);
    while (rows.next()) {
      idle.push_back({rows.integer(0), rows.fence(1)});
    }
  }
  for (const Idle& row : idle) {
    raise_floor_.apply(row.fence);
    drop_lease_.apply(row.id);
  }
}

void NameTable::sweep_waiters(std::uint64_t chance, Instant now) {
  std::int64_t start = 0;
  {
    auto span = waiter_span_.run();
    if (!span.next() || span.integer(0) == 0) {
      return;
    }
    start = start_of_sweep(chance, span.integer(0));
  }
  drop_dead_waiters_.apply(start, sweep_rows_max, clock_, now - dead_waiter_life);
}

std::vector<NameTable::Named> NameTable::names_after(const std::string& from, std::int64_t limit) {
  std::vector<Named> names;
  for (auto rows = names_after_.run(from, limit); rows.next();) {
    names.push_back({rows.text(1), read_lease(rows)});
  }
  return names;
}

LeaseRow NameTable::read_lease(const Statement::Rows& rows) const {
  LeaseRow row;
  row.id = rows.integer(0);
  row.fence = rows.fence(2);
  if (rows.integer(4) != clock_) {
    return row;  // of another boot: nothing but its fence means anything
  }
  row.state = static_cast<LeaseRow::State>(rows.integer(3));
  row.expires = rows.instant(5);
  row.owner = rows.owner(6);
  row.granted_at = rows.instant(7);
  row.lock_delay = rows.duration(8);
  row.min_end = rows.maybe_instant(9);
  row.max_end = rows.maybe_instant(10);
  row.who = {rows.text(11), rows.integer(12), rows.text(13)};
  return row;
}

WaiterRow NameTable::read_waiter(const Statement::Rows& rows) const {
  WaiterRow row;
  row.ticket = rows.integer(0);
  row.owner = rows.owner(1);
  row.alive_until = rows.integer(2) == clock_ ? rows.instant(3) : Instant::min();
  row.joined_at = rows.instant(4);
  row.lock_delay = rows.duration(5);
  row.min_hold = rows.duration(6);
  row.max_hold = rows.duration(7);
  row.who = {rows.text(8), rows.integer(9), rows.text(10)};
  return row;
}

}  // namespace holdfast::sqlite

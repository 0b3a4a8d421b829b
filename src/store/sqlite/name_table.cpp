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

NameState NameTable::load(const std::string& name, Instant now) {
  std::vector<LeaseRow> all;
  for (auto rows = find_.run(name); rows.next();) {
    all.push_back(read_lease(rows, now));
  }
  return {name, std::move(all), now};
}

void NameTable::put(const std::string& name, LeaseRow& row) {
  const auto write = [&](Statement& statement, const auto& key) {
    statement.apply(key, row.fence, row.floor, static_cast<std::int64_t>(row.state),
                    static_cast<std::int64_t>(row.mode), std::int64_t{row.permits},
                    std::int64_t{row.limit}, boot_.id, row.expires, row.owner, row.granted_at,
                    row.lock_delay, row.min_end, row.max_end, row.who.host, row.who.pid,
                    row.who.note, row.value);
  };
  if (row.id == 0) {
    write(insert_, name);
    row.id = sqlite3_last_insert_rowid(database_.handle());
  } else {
    write(update_, row.id);
  }
}

void NameTable::set_expiry(const LeaseRow& row) {
  set_expiry_.apply(row.id, static_cast<std::int64_t>(row.state), row.expires);
}

void NameTable::set_use(const LeaseRow& row) {
  set_use_.apply(row.id, static_cast<std::int64_t>(row.mode), row.value);
}

void NameTable::drop_lease(std::int64_t id) { drop_lease_.apply(id); }

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
      WaiterRow waiter = read_waiter(name, rows);
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
    WaiterRow waiter = read_waiter(name, rows);
    if (waiter.is_alive(now)) {
      living.push_back(std::move(waiter));
    }
  }
  return living;
}

std::optional<NameTable::PlaceRow> NameTable::find_place(const std::string& name,
                                                         const OwnerId& owner, Instant now) {
  auto rows = find_waiter_.run(name, owner);
  if (!rows.next()) {
    return std::nullopt;
  }
  return PlaceRow{rows.integer(0), rows.integer(1) == boot_.id && now <= rows.instant(2)};
}

void NameTable::join(const Claim& claim, Instant now) {
  join_.apply(claim.name, claim.owner, boot_.id, later(now, claim.liveness), now,
              static_cast<std::int64_t>(claim.mode), std::int64_t{claim.permits},
              std::int64_t{claim.limit}, claim.ttl, claim.lock_delay, claim.min_hold,
              claim.max_hold, claim.run_id, claim.value, claim.who.host, claim.who.pid,
              claim.who.note);
}

void NameTable::beat(std::int64_t ticket, Instant alive_until) { beat_.apply(ticket, alive_until); }

void NameTable::leave(std::int64_t ticket) { leave_.apply(ticket); }

bool NameTable::is_entombed(const OwnerId& owner, Instant now) {
  auto rows = entombed_.run(owner, boot_.id, now);
  return rows.next();
}

void NameTable::entomb(const OwnerId& owner, Instant until, Instant now) {
  entomb_.apply(owner, boot_.id, until);
  forget_tombs_.apply(now, sweep_rows_max);
}

std::optional<DoneRow> NameTable::find_done(const std::string& name, const std::string& run_id,
                                            Instant now) {
  auto rows = find_done_.run(name, run_id);
  if (!rows.next()) {
    return std::nullopt;
  }
  const DoneRow done = read_done(rows);
  return now < done.ends ? std::optional{done} : std::nullopt;
}

void NameTable::mark_done(const Claim& claim, Duration remember, Instant now,
                          std::int64_t unix_us) {
  mark_done_.apply(claim.name, claim.run_id, claim.owner, boot_.id, later(now, remember),
                   unix_us + remember / std::chrono::microseconds{1}, remember);
}

void NameTable::log_wake(const WakeRow& row) {
  log_wake_.apply(static_cast<std::int64_t>(row.kind), row.owner, row.fence, row.floor);
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
                     rows.fence(3), rows.fence(4)});
  }
  if (!wakes.empty() && wakes.front().seq != seq + 1) {
    return std::nullopt;
  }
  return wakes;
}

void NameTable::sweep(std::uint64_t chance, Instant now) {
  sweep_leases(chance, now);
  // In turns, as chance wills: each look costs time that every grant pays.
  if ((chance >> 32U) % 2 == 0) {
    sweep_waiters(chance, now);
  } else {
    sweep_done(chance, now);
  }
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
    auto rows = idle_leases_.run(start_of_sweep(chance, span.integer(0)), sweep_rows_max, boot_.id,
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
  drop_dead_waiters_.apply(start, sweep_rows_max, boot_.id, now - dead_waiter_life);
}

void NameTable::sweep_done(std::uint64_t chance, Instant now) {
  std::vector<std::int64_t> over;
  {
    auto span = done_span_.run();
    if (!span.next() || span.integer(0) == 0) {
      return;
    }
    auto rows = some_done_.run(start_of_sweep(chance, span.integer(0)), sweep_rows_max);
    while (rows.next()) {
      if (now >= read_done(rows).ends) {
        over.push_back(rows.integer(5));
      }
    }
  }
  for (const std::int64_t id : over) {
    forget_done_.apply(id);
  }
}

std::vector<std::string> NameTable::names_after(const std::string& from, std::int64_t limit) {
  std::vector<std::string> names;
  for (auto rows = names_after_.run(from, limit); rows.next();) {
    names.push_back(rows.text(0));
  }
  return names;
}

LeaseRow NameTable::read_lease(const Statement::Rows& rows, Instant now) const {
  LeaseRow row;
  row.id = rows.integer(0);
  row.fence = rows.fence(1);
  const auto state = static_cast<LeaseRow::State>(rows.integer(3));
  row.expires = rows.instant(8);
  if (rows.integer(7) != boot_.id || state == LeaseRow::State::idle || now >= row.expires) {
    return row;  // nothing but its fence means anything any more
  }
  row.state = state;
  row.floor = rows.fence(2);
  row.mode = static_cast<Mode>(rows.integer(4));
  row.permits = rows.count(5);
  row.limit = rows.count(6);
  row.owner = rows.owner(9);
  row.granted_at = rows.instant(10);
  row.lock_delay = rows.duration(11);
  row.min_end = rows.maybe_instant(12);
  row.max_end = rows.maybe_instant(13);
  row.who = {rows.text(14), rows.integer(15), rows.text(16)};
  row.value = rows.text(17);
  return row;
}

WaiterRow NameTable::read_waiter(const std::string& name, const Statement::Rows& rows) const {
  WaiterRow row;
  row.ticket = rows.integer(0);
  row.alive_until = rows.integer(2) == boot_.id ? rows.instant(3) : Instant::min();
  row.joined_at = rows.instant(4);
  Claim& claim = row.claim;
  claim.name = name;
  claim.owner = rows.owner(1);
  claim.mode = static_cast<Mode>(rows.integer(5));
  claim.permits = rows.count(6);
  claim.limit = rows.count(7);
  claim.ttl = rows.duration(8);
  claim.lock_delay = rows.duration(9);
  claim.min_hold = rows.duration(10);
  claim.max_hold = rows.duration(11);
  claim.run_id = rows.text(12);
  claim.value = rows.text(13);
  claim.who = {rows.text(14), rows.integer(15), rows.text(16)};
  return row;
}

// The columns owner, clock, until, until_unix, remember.
DoneRow NameTable::read_done(const Statement::Rows& rows) const {
  const bool of_this_boot = rows.integer(1) == boot_.id;
  return {rows.owner(0), of_this_boot
                             ? rows.instant(2)
                             : end_in_later_boot(boot_, rows.integer(3), rows.duration(4))};
}

}  // namespace holdfast::sqlite

// What the verbs of LockTable have in common: who fits beside whom, grants, hand-off, expiry.
#include "store/memory/lock_table.hpp"

#include "base/mutation.hpp"

#include <algorithm>

namespace holdfast {

namespace {

Duration left(Instant end, Instant now) { return std::max(end - now, Duration{0}); }

std::string use_of(std::uint32_t limit) {
  return limit == 0 ? "a lock" : "a semaphore with limit " + std::to_string(limit);
}

}  // namespace

void LockTable::drop_ended(Name& name, Instant now) {
  std::erase_if(name.records, [&](const Record& record) { return now >= record.expires; });
  std::erase_if(name.queue, [&](const Place& place) {
    return !place.alive(now) && !mutated(Mutation::dead_waiter_keeps_place);
  });
}

void LockTable::settle(Name& name, Reading at, Notices& notices) {
  drop_ended(name, at.now);
  serve_until(OwnerId{}, name, at, notices);
}

void LockTable::serve_until(const OwnerId& stop, Name& name, Reading at, Notices& notices) {
  while (!name.queue.empty() && name.queue.front().claim.owner != stop) {
    const Claim& head = name.queue.front().claim;
    if (find_done(head, at.now) != nullptr && !mutated(Mutation::queue_ignores_marks)) {
      notices.emplace_back(MaybeFree{head.owner});  // it will ask, and hear that there is no need
      name.queue.pop_front();
    } else if (fits(name, head)) {
      hand_off(name, at, notices);
      if (mutated(Mutation::only_head_is_let_in)) {
        return;
      }
    } else {
      return;
    }
  }
}

LockTable::Record* LockTable::find(Name& name, const OwnerId& owner) {
  const auto found = std::ranges::find_if(name.records, [&](const Record& record) {
    return record.owner == owner && !record.released;
  });
  return found == name.records.end() ? nullptr : &*found;
}

bool LockTable::fits(const Name& name, const Claim& claim) {
  // A broken holder that asks again waits behind itself.
  const bool holds = std::ranges::any_of(
      name.records, [&](const Record& record) { return record.owner == claim.owner; });
  if (holds || claim.mode == Mode::exclusive) {
    return name.records.empty();
  }
  if (claim.limit == 0) {
    return std::ranges::all_of(name.records,
                               [](const Record& record) { return record.mode == Mode::shared; });
  }
  std::uint64_t taken = mutated(Mutation::permits_of_others_only) ? 1 : claim.permits;
  for (const Record& record : name.records) {
    taken += record.permits;
  }
  return taken <= claim.limit;
}

std::string LockTable::why_contradicting(const Name& name, const Claim& claim) {
  std::uint32_t limit = claim.limit;
  if (!name.records.empty()) {
    limit = name.records.front().limit;
  } else if (!name.queue.empty()) {
    limit = name.queue.front().claim.limit;
  }
  if (limit == claim.limit || mutated(Mutation::other_limit_is_ignored)) {
    return {};
  }
  return "the name is in use as " + use_of(limit) + ", not as " + use_of(claim.limit);
}

// Returns how long the holder may count on, seen from now.
Duration LockTable::refresh(Record& record, Duration ttl, Instant now) {
  Instant expires = now + ttl + record.lock_delay;
  if (record.max_end) {
    expires = std::min(expires, *record.max_end);
  }
  const Duration granted = left(expires - record.lock_delay, now);
  record.expires = record.min_end ? std::max(expires, *record.min_end) : expires;
  return granted;
}

LockTable::Record& LockTable::grant(Name& name, const Claim& claim, Reading at) {
  std::erase_if(name.queue, [&](const Place& place) { return place.claim.owner == claim.owner; });
  const std::int64_t clock = mutated(Mutation::fence_by_counter) ? 0 : at.unix_us;
  name.last = Fence{std::max({to_int(name.last) + 1, to_int(floor_) + 1, clock})};
  Record record;
  record.owner = claim.owner;
  record.mode = claim.mode;
  record.permits = claim.permits;
  record.limit = claim.limit;
  record.fence = name.last;
  record.floor = name.last;
  for (const Record& other : name.records) {
    if (!other.released && !mutated(Mutation::floor_is_own_fence)) {
      record.floor = std::min(record.floor, other.fence);
    }
  }
  record.granted_at = at.now;
  record.lock_delay = claim.lock_delay;
  record.value = claim.value;
  record.who = claim.who;
  if (claim.min_hold > Duration{0}) {
    record.min_end = at.now + claim.min_hold;
  }
  if (claim.max_hold > Duration{0}) {
    record.max_end = at.now + claim.max_hold + claim.lock_delay;
  }
  return name.records.emplace_back(std::move(record));
}

Granted LockTable::grant_in_full(Name& name, const Claim& claim, Reading at) {
  Record& record = grant(name, claim, at);
  const Duration ttl = refresh(record, claim.ttl, at.now);
  return {record.fence, record.floor, ttl};
}

void LockTable::hand_off(Name& name, Reading at, Notices& notices) {
  const bool reversed = mutated(Mutation::last_come_first_served);
  const Place head = reversed ? name.queue.back() : name.queue.front();
  Record& record = grant(name, head.claim, at);
  // Provisional: it ends where the waiter's place in the queue would have ended. The waiter's
  // next request makes it a full lease.
  record.expires = head.last_beat + head.claim.liveness + record.lock_delay;
  if (record.max_end) {
    record.expires = std::min(record.expires, *record.max_end);
  }
  notices.emplace_back(HandedOff{head.claim.owner, record.fence, record.floor});
  if (mutated(Mutation::handoff_is_forgotten)) {
    name.records.pop_back();
  }
}

// The oldest holder, and the first moment at which one of them may be gone.
Busy LockTable::busy_with(const Name& name, Instant now) {
  if (name.records.empty()) {
    return {};
  }
  const auto first = std::ranges::min_element(name.records, {},
                                              [](const Record& record) { return record.expires; });
  return {left(first->expires, now), holder_view(name.records.front(), now)};
}

// True if the run is marked done by this owner, now or before.
bool LockTable::finish_run(const Claim& claim, bool holds, Duration remember, Instant now) {
  if (remember <= Duration{0}) {
    return false;
  }
  if (const Done* done = find_done(claim, now)) {
    return done->owner == claim.owner;
  }
  if (holds || mutated(Mutation::mark_without_lease)) {
    const RunKey key{claim.name, claim.run_id};
    runs_[key] = {claim.owner, now + remember};
    run_ends_.emplace(now + remember, key);
  }
  return holds;
}

void LockTable::give_back(Name& name, const Record& record, bool keep_min_hold, Instant now) {
  Record& ours = name.records[static_cast<std::size_t>(&record - name.records.data())];
  if (keep_min_hold && ours.min_end && *ours.min_end > now) {
    ours.released = true;
    ours.expires = *ours.min_end;
  } else {
    name.records.erase(name.records.begin() + (&record - name.records.data()));
  }
}

Holder LockTable::holder_view(const Record& record, Instant now) {
  return {record.owner,
          record.mode,
          record.fence,
          record.who,
          now - record.granted_at,
          left(record.expires, now),
          record.broken,
          record.released,
          record.permits,
          record.limit,
          record.value};
}

NameView LockTable::view(const std::string& key, const Name& name, Instant now) {
  NameView seen{key, {}, {}, name.last};
  for (const Record& record : name.records) {
    if (now < record.expires) {
      seen.holders.push_back(holder_view(record, now));
    }
  }
  for (const Place& place : name.queue) {
    if (place.alive(now)) {
      const Claim& claim = place.claim;
      seen.waiters.push_back(
          {claim.owner, claim.mode, claim.who, now - place.joined_at, claim.permits, claim.limit});
    }
  }
  return seen;
}

// A withdraw that is repeated counts from its last arrival.
void LockTable::entomb(const OwnerId& owner, Instant until) {
  Instant& end = tombstones_[owner];
  tombstone_ends_.erase({end, owner});
  end = std::max(end, until);
  tombstone_ends_.emplace(end, owner);
}

bool LockTable::entombed(const OwnerId& owner, Instant now) {
  while (!tombstone_ends_.empty() && tombstone_ends_.begin()->first <= now) {
    tombstones_.erase(tombstone_ends_.begin()->second);
    tombstone_ends_.erase(tombstone_ends_.begin());
  }
  return tombstones_.contains(owner);
}

const LockTable::Done* LockTable::find_done(const Claim& claim, Instant now) {
  while (!run_ends_.empty() && run_ends_.begin()->first <= now) {
    runs_.erase(run_ends_.begin()->second);
    run_ends_.erase(run_ends_.begin());
  }
  if (claim.run_id.empty()) {
    return nullptr;
  }
  const auto found = runs_.find({claim.name, claim.run_id});
  return found == runs_.end() ? nullptr : &found->second;
}

void LockTable::forget_if_idle(Names::iterator entry) {
  const Name& name = entry->second;
  if (name.idle()) {
    floor_ = std::max(floor_, name.last);
    names_.erase(entry);
  }
}

}  // namespace holdfast

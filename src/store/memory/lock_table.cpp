#include "store/memory/lock_table.hpp"

#include "base/mutation.hpp"

#include <algorithm>

namespace holdfast {

namespace {

Duration left(Instant end, Instant now) { return std::max(end - now, Duration{0}); }

}  // namespace

AcquireReply LockTable::acquire(const Claim& claim, Store::Queueing queueing, Reading at,
                                Notices& notices) {
  if (entombed(claim.owner, at.now)) {
    return Busy{};
  }
  const auto entry = names_.try_emplace(claim.name).first;
  Name& name = entry->second;
  drop_ended(name, at.now);
  if (owns(name, claim.owner) && !name.record->broken) {
    const Duration ttl = refresh(*name.record, claim.ttl, at.now);
    return Granted{name.record->fence, name.record->fence, ttl};
  }
  const bool next = name.queue.empty() || name.queue.front().claim.owner == claim.owner;
  if (!name.record && next) {
    Record& record = grant(name, claim, at);
    const Duration ttl = refresh(record, claim.ttl, at.now);
    return Granted{record.fence, record.fence, ttl};
  }
  settle(name, at, notices);
  return refuse(name, claim, queueing, at.now);
}

AcquireReply LockTable::refuse(Name& name, const Claim& claim, Store::Queueing queueing,
                               Instant now) {
  const Record& record = *name.record;
  const Duration recheck_in = left(record.expires, now);
  if (queueing == Store::Queueing::no) {
    return Busy{recheck_in, holder_view(record, now)};
  }
  const auto place =
      std::ranges::find(name.queue, claim.owner, [](const Place& p) { return p.claim.owner; });
  if (place != name.queue.end()) {
    place->last_beat = now;
  } else {
    name.queue.push_back({claim, now, now});
  }
  return Queued{recheck_in, holder_view(record, now)};
}

RenewReply LockTable::renew(const Claim& claim, Reading at, Notices& notices) {
  const auto entry = names_.find(claim.name);
  if (entry == names_.end()) {
    return Gone{GoneReason::taken};
  }
  Name& name = entry->second;
  drop_ended(name, at.now);
  if (mutated(Mutation::renewal_recreates) && !name.record) {
    grant(name, claim, at);
  }
  RenewReply reply = Gone{GoneReason::taken};
  if (owns(name, claim.owner) || (mutated(Mutation::renew_by_name) && name.record)) {
    if (name.record->broken) {
      reply = Gone{GoneReason::broken};
    } else {
      reply = Renewed{refresh(*name.record, claim.ttl, at.now)};
    }
  }
  settle(name, at, notices);
  forget_if_idle(entry);
  return reply;
}

WithdrawReply LockTable::withdraw(const Claim& claim, WithdrawOptions options, Reading at,
                                  Notices& notices) {
  if (options.tombstone && !mutated(Mutation::no_tombstones)) {
    entomb(claim.owner, at.now + claim.ttl);
  }
  const auto entry = names_.find(claim.name);
  if (entry == names_.end()) {
    return NotOwner{};
  }
  Name& name = entry->second;
  drop_ended(name, at.now);
  bool had = std::erase_if(name.queue, [&](const Place& place) {
               return place.claim.owner == claim.owner;
             }) != 0;
  if (owns(name, claim.owner) || (mutated(Mutation::release_by_name) && name.record)) {
    had = true;
    Record& record = *name.record;
    if (options.keep_min_hold && record.min_end && *record.min_end > at.now) {
      record.released = true;
      record.expires = *record.min_end;
    } else {
      name.record.reset();
    }
  }
  settle(name, at, notices);
  forget_if_idle(entry);
  return had ? WithdrawReply{Released{}} : WithdrawReply{NotOwner{}};
}

BreakDone LockTable::break_name(const std::string& key, BreakMode mode, Reading at,
                                Notices& notices) {
  BreakDone done;
  const auto entry = names_.find(key);
  if (entry == names_.end()) {
    return done;
  }
  Name& name = entry->second;
  drop_ended(name, at.now);  // whom the end of a lease lets in is not whom the operator meant
  if (name.record) {
    done.holders.push_back(holder_view(*name.record, at.now));
    if (!name.record->released) {
      notices.emplace_back(MarkedBroken{name.record->owner});
    }
    if (mode == BreakMode::now || name.record->released) {
      name.record.reset();
    } else {
      name.record->broken = true;
    }
  }
  settle(name, at, notices);
  forget_if_idle(entry);
  return done;
}

NameView LockTable::inspect(const std::string& name, Reading at) const {
  const auto entry = names_.find(name);
  if (entry == names_.end()) {
    return {name, {}, {}, Fence::none};
  }
  return view(name, entry->second, at.now);
}

Page LockTable::list(const std::string& prefix, const std::string& cursor, std::size_t limit,
                     Reading at) const {
  Page page;
  for (auto entry = names_.upper_bound(cursor); entry != names_.end(); ++entry) {
    if (!entry->first.starts_with(prefix)) {
      continue;
    }
    if (page.names.size() == limit) {
      page.next_cursor = page.names.back().name;
      break;
    }
    NameView seen = view(entry->first, entry->second, at.now);
    if (!seen.holders.empty() || !seen.waiters.empty()) {
      page.names.push_back(std::move(seen));
    }
  }
  return page;
}

void LockTable::drop_ended(Name& name, Instant now) {
  if (name.record && now >= name.record->expires) {
    name.record.reset();
  }
  std::erase_if(name.queue, [&](const Place& place) {
    return !place.alive(now) && !mutated(Mutation::dead_waiter_keeps_place);
  });
}

void LockTable::settle(Name& name, Reading at, Notices& notices) {
  drop_ended(name, at.now);
  if (!name.record && !name.queue.empty()) {
    hand_off(name, at, notices);
  }
}

bool LockTable::owns(const Name& name, const OwnerId& owner) {
  return name.record && !name.record->released && name.record->owner == owner;
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
  record.fence = name.last;
  record.granted_at = at.now;
  record.lock_delay = claim.lock_delay;
  record.who = claim.who;
  if (claim.min_hold > Duration{0}) {
    record.min_end = at.now + claim.min_hold;
  }
  if (claim.max_hold > Duration{0}) {
    record.max_end = at.now + claim.max_hold + claim.lock_delay;
  }
  return name.record.emplace(std::move(record));
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
  notices.emplace_back(HandedOff{head.claim.owner, record.fence, record.fence});
  if (mutated(Mutation::handoff_is_forgotten)) {
    name.record.reset();
  }
}

Holder LockTable::holder_view(const Record& record, Instant now) {
  return {record.owner,  Mode::exclusive,         record.fence,
          record.who,    now - record.granted_at, left(record.expires, now),
          record.broken, record.released};
}

NameView LockTable::view(const std::string& key, const Name& name, Instant now) {
  NameView seen{key, {}, {}, name.last};
  if (name.record && now < name.record->expires) {
    seen.holders.push_back(holder_view(*name.record, now));
  }
  for (const Place& place : name.queue) {
    if (place.alive(now)) {
      seen.waiters.push_back(
          {place.claim.owner, place.claim.mode, place.claim.who, now - place.joined_at});
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

void LockTable::forget_if_idle(std::map<std::string, Name>::iterator entry) {
  const Name& name = entry->second;
  if (!name.record && name.queue.empty()) {
    floor_ = std::max(floor_, name.last);
    names_.erase(entry);
  }
}

}  // namespace holdfast

// The verbs of LockTable; what they have in common is in lock_table_rules.cpp.
#include "store/memory/lock_table.hpp"

#include "base/mutation.hpp"

#include <holdfast/error.hpp>

#include <algorithm>

namespace holdfast {

namespace {

// Whether a renewal of the lease with fence `meant` may renew a record with `fence`.
bool is_meant(Fence meant, Fence fence) {
  return meant == Fence::none || meant == fence || mutated(Mutation::renewed_by_owner_alone) ||
         mutated(Mutation::renew_by_name) || mutated(Mutation::renewal_recreates);
}

}  // namespace

AcquireReply LockTable::acquire(const Claim& claim, Store::Queueing queueing, Reading at,
                                Notices& notices) {
  if (entombed(claim.owner, at.now)) {
    return Busy{};
  }
  const auto entry = names_.try_emplace(claim.name).first;
  Name& name = entry->second;
  drop_ended(name, at.now);
  if (Record* ours = find(name, claim.owner); ours != nullptr && !ours->broken) {
    return Granted{ours->fence, ours->floor, refresh(*ours, claim.ttl, at.now)};
  }
  if (find_done(claim, at.now) != nullptr) {
    std::erase_if(name.queue, [&](const Place& place) { return place.claim.owner == claim.owner; });
    settle(name, at, notices);
    forget_if_idle(entry);
    return AlreadyDone{};
  }
  if (std::string why = why_contradicting(name, claim); !why.empty()) {
    return Failed{errc::invalid_options, false, std::move(why)};
  }
  serve_until(claim.owner, name, at, notices);
  const bool next =
      name.queue.empty() || name.queue.front().claim.owner == claim.owner ||
      (mutated(Mutation::reader_passes_writer) && claim.mode == Mode::shared && claim.limit == 0);
  if (next && fits(name, claim)) {
    const Granted granted = grant_in_full(name, claim, at);
    settle(name, at, notices);
    return granted;
  }
  return refuse(name, claim, queueing, at.now);
}

AcquireAllReply LockTable::acquire_all(std::span<const Claim> claims, Reading at,
                                       Notices& notices) {
  for (const Claim& claim : claims) {
    settle(names_[claim.name], at, notices);
  }
  AcquireAllReply reply = why_not_all(claims, at.now).value_or(AllGranted{});
  if (auto* granted = std::get_if<AllGranted>(&reply)) {
    for (const Claim& claim : claims) {
      Name& name = names_[claim.name];
      Record* ours = find(name, claim.owner);
      granted->push_back(ours != nullptr
                             ? Granted{ours->fence, ours->floor, refresh(*ours, claim.ttl, at.now)}
                             : grant_in_full(name, claim, at));
    }
  }
  for (const Claim& claim : claims) {
    forget_if_idle(names_.find(claim.name));
  }
  return reply;
}

std::optional<AcquireAllReply> LockTable::why_not_all(std::span<const Claim> claims, Instant now) {
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    Name& name = names_[claim.name];
    if (std::string why = why_contradicting(name, claim); !why.empty()) {
      return Failed{errc::invalid_options, false, "\"" + claim.name + "\": " + why};
    }
    const Record* ours = find(name, claim.owner);
    const bool held = ours != nullptr && !ours->broken;
    const bool free = name.queue.empty() && fits(name, claim);
    if (entombed(claim.owner, now) || !(held || free)) {
      return AllBusy{i, busy_with(name, now)};
    }
  }
  return std::nullopt;
}

AcquireReply LockTable::refuse(Name& name, const Claim& claim, Store::Queueing queueing,
                               Instant now) {
  Busy busy = busy_with(name, now);
  if (queueing == Store::Queueing::no) {
    return busy;
  }
  const auto place =
      std::ranges::find(name.queue, claim.owner, [](const Place& p) { return p.claim.owner; });
  if (place != name.queue.end()) {
    place->last_beat = now;
  } else {
    name.queue.push_back({claim, now, now});
  }
  return Queued{busy.recheck_in, std::move(busy.holder), name.last};
}

RenewReply LockTable::renew(const Claim& claim, Reading at, Notices& notices) {
  const auto entry = names_.find(claim.name);
  if (entry == names_.end()) {
    return Gone{GoneReason::taken};
  }
  Name& name = entry->second;
  drop_ended(name, at.now);
  if (mutated(Mutation::renewal_recreates) && name.records.empty()) {
    grant(name, claim, at);
  }
  RenewReply reply = Gone{GoneReason::taken};
  Record* record = find(name, claim.owner);
  if (record == nullptr && mutated(Mutation::renew_by_name) && !name.records.empty()) {
    record = &name.records.front();
  }
  if (record != nullptr) {
    if (record->broken) {
      reply = Gone{GoneReason::broken};
    } else if (is_meant(claim.fence, record->fence)) {
      reply = Renewed{refresh(*record, claim.ttl, at.now)};
    }
  }
  settle(name, at, notices);
  forget_if_idle(entry);
  return reply;
}

AmendReply LockTable::amend(const Claim& claim, Reading at, Notices& notices) {
  const auto entry = names_.find(claim.name);
  if (entry == names_.end()) {
    return Gone{GoneReason::taken};
  }
  Name& name = entry->second;
  drop_ended(name, at.now);
  AmendReply reply = Gone{GoneReason::taken};
  if (Record* record = find(name, claim.owner)) {
    if (record->broken) {
      reply = Gone{GoneReason::broken};
    } else if (record->mode == Mode::shared && claim.mode == Mode::exclusive) {
      reply = Failed{errc::invalid_options, false, "a shared lease cannot become an exclusive one"};
    } else {
      record->mode = claim.mode;
      record->value = claim.value;
      if (mutated(Mutation::downgrade_frees)) {
        const Record ours = *record;
        std::erase_if(name.records, [&](const Record& r) { return r.owner == claim.owner; });
        settle(name, at, notices);
        name.records.insert(name.records.begin(), ours);
      }
      reply = Amended{};
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
    return finish_run(claim, false, options.remember, at.now) ? WithdrawReply{Released{}}
                                                              : WithdrawReply{NotOwner{}};
  }
  Name& name = entry->second;
  drop_ended(name, at.now);
  bool had = std::erase_if(name.queue, [&](const Place& place) {
               return place.claim.owner == claim.owner;
             }) != 0;
  const Record* record = find(name, claim.owner);
  if (!mutated(Mutation::mark_in_second_step)) {
    had = finish_run(claim, record != nullptr, options.remember, at.now) || had;
  }
  if (record == nullptr && mutated(Mutation::release_by_name) && !name.records.empty()) {
    record = &name.records.front();
  }
  if (record != nullptr) {
    had = true;
    give_back(name, *record, options.keep_min_hold, at.now);
  }
  settle(name, at, notices);
  if (mutated(Mutation::mark_in_second_step)) {
    finish_run(claim, record != nullptr, options.remember, at.now);
  }
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
  for (Record& record : name.records) {
    done.holders.push_back(holder_view(record, at.now));
    if (!record.released) {
      notices.emplace_back(MarkedBroken{record.owner});
      record.broken = true;
    }
  }
  std::erase_if(name.records,
                [&](const Record& record) { return mode == BreakMode::now || record.released; });
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

std::optional<OwnerId> LockTable::done_by(const std::string& name, const std::string& run_id,
                                          Reading at) const {
  const auto done = runs_.find({name, run_id});
  if (done == runs_.end() || done->second.until <= at.now) {
    return std::nullopt;
  }
  return done->second.owner;
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

}  // namespace holdfast

#include "store/sqlite/verbs.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace holdfast::sqlite {

// Only where a living exclusive record stands: then nobody behind it can be served either.
std::optional<Busy> Verbs::glance(const Claim& claim, Instant now) {
  if (claim.limit != 0 || !claim.run_id.empty()) {
    return std::nullopt;
  }
  const NameState name = table_.load(claim.name, now);
  if (name.records().size() == 1) {
    const LeaseRow& row = name.records().front();
    if (row.mode == Mode::exclusive && row.owner != claim.owner) {
      return name.busy(now);
    }
  }
  return std::nullopt;
}

AcquireReply Verbs::acquire(const Claim& claim, Store::Queueing queueing, Step& step) {
  if (table_.is_entombed(claim.owner, step.now)) {
    return Busy{};
  }
  NameState name = table_.load(claim.name, step.now);
  LeaseRow* const ours = name.find(claim.owner);
  if (ours != nullptr && ours->state == LeaseRow::State::held) {
    return refresh_held(*ours, claim.ttl, step);
  }
  if (is_done(claim, step)) {
    leave_queue(claim, step);
    serve(name, step);
    return AlreadyDone{};
  }
  Head head = table_.living_head(claim.name, step.now);
  if (std::string why = name.why_contradicting(claim, head); !why.empty()) {
    return Failed{errc::invalid_options, false, std::move(why)};
  }
  head = serve(name, std::move(head), claim.owner, step);
  if ((!head || head->claim.owner == claim.owner) && name.fits(claim)) {
    const Granted granted = grant_in_full(name, claim, step);
    if (head) {
      table_.leave(head->ticket);
      serve(name, step);
    }
    return granted;
  }
  if (queueing == Store::Queueing::no) {
    return name.busy(step.now);
  }
  return enqueue(claim, name, step);
}

AcquireReply Verbs::enqueue(const Claim& claim, const NameState& name, Step& step) {
  const auto place = table_.find_place(claim.name, claim.owner, step.now);
  if (place && place->alive) {
    table_.beat(place->ticket, later(step.now, claim.liveness));
  } else {
    if (place) {
      table_.leave(place->ticket);  // too late: it joins at the end again
    }
    table_.join(claim, step.now);
  }
  Busy busy = name.busy(step.now);
  return Queued{busy.recheck_in, std::move(busy.holder), name.last()};
}

AcquireAllReply Verbs::acquire_all(std::span<const Claim> claims, Step& step) {
  std::vector<NameState> names;
  std::vector<Head> heads;
  for (const Claim& claim : claims) {
    names.push_back(table_.load(claim.name, step.now));
    heads.push_back(serve(names.back(), step));
  }
  if (auto refused = why_not_all(claims, names, heads, step)) {
    return *std::move(refused);
  }
  AllGranted granted;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    LeaseRow* const ours = names[i].find(claims[i].owner);
    granted.push_back(ours != nullptr ? refresh_held(*ours, claims[i].ttl, step)
                                      : grant_in_full(names[i], claims[i], step));
  }
  return granted;
}

std::optional<AcquireAllReply> Verbs::why_not_all(std::span<const Claim> claims,
                                                  std::vector<NameState>& names,
                                                  const std::vector<Head>& heads, Step& step) {
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    if (std::string why = names[i].why_contradicting(claim, heads[i]); !why.empty()) {
      return Failed{errc::invalid_options, false, "\"" + claim.name + "\": " + why};
    }
    const LeaseRow* const ours = names[i].find(claim.owner);
    const bool held = ours != nullptr && ours->state == LeaseRow::State::held;
    const bool free = !heads[i] && names[i].fits(claim);
    if (table_.is_entombed(claim.owner, step.now) || !(held || free)) {
      return AllBusy{i, names[i].busy(step.now)};
    }
  }
  return std::nullopt;
}

RenewReply Verbs::renew(const Claim& claim, Step& step) {
  NameState name = table_.load(claim.name, step.now);
  if (!name.is_known()) {
    return Gone{GoneReason::taken};
  }
  RenewReply reply = Gone{GoneReason::taken};
  if (LeaseRow* const ours = name.find(claim.owner)) {
    if (ours->state == LeaseRow::State::broken) {
      reply = Gone{GoneReason::broken};
    } else if (claim.fence == Fence::none || claim.fence == ours->fence) {
      reply = Renewed{refresh_held(*ours, claim.ttl, step).ttl};
    }
  }
  serve(name, step);
  return reply;
}

AmendReply Verbs::amend(const Claim& claim, Step& step) {
  NameState name = table_.load(claim.name, step.now);
  AmendReply reply = Gone{GoneReason::taken};
  if (LeaseRow* const ours = name.find(claim.owner)) {
    if (ours->state == LeaseRow::State::broken) {
      reply = Gone{GoneReason::broken};
    } else if (ours->mode == Mode::shared && claim.mode == Mode::exclusive) {
      reply = Failed{errc::invalid_options, false, "a shared lease cannot become an exclusive one"};
    } else {
      ours->mode = claim.mode;
      ours->value = claim.value;
      table_.set_use(*ours);
      reply = Amended{};
    }
  }
  serve(name, step);
  return reply;
}

WithdrawReply Verbs::withdraw(const Claim& claim, WithdrawOptions options, Step& step) {
  if (options.tombstone) {
    table_.entomb(claim.owner, later(step.now, claim.ttl), step.now);
  }
  NameState name = table_.load(claim.name, step.now);
  LeaseRow* const ours = name.find(claim.owner);
  Head head = table_.living_head(claim.name, step.now);
  bool had = head && leave_queue(claim, step);
  if (had) {
    head = table_.living_head(claim.name, step.now);
  }
  had = finish_run(claim, ours != nullptr, options.remember, step) || had;
  if (ours != nullptr) {
    had = true;
    if (options.keep_min_hold && ours->min_end && *ours->min_end > step.now) {
      ours->state = LeaseRow::State::released;
      ours->expires = *ours->min_end;
      table_.set_expiry(*ours);
    } else {
      free(name, *ours, step);
    }
  }
  serve(name, std::move(head), OwnerId{}, step);
  return had ? WithdrawReply{Released{}} : WithdrawReply{NotOwner{}};
}

BreakDone Verbs::break_name(const std::string& key, BreakMode mode, Step& step) {
  BreakDone done;
  NameState name = table_.load(key, step.now);
  const std::vector<LeaseRow> hit = name.records();  // not whom the end of a lease lets in
  for (const LeaseRow& row : hit) {
    done.holders.push_back(row.view(step.now));
    LeaseRow marked = row;
    const bool nobody_inside = row.state == LeaseRow::State::released;
    if (!nobody_inside) {
      tell({.kind = WakeRow::Kind::broken, .owner = row.owner, .fence = row.fence}, step);
      marked.state = LeaseRow::State::broken;
    }
    if (nobody_inside || mode == BreakMode::now) {
      free(name, marked, step);
    } else {
      table_.set_expiry(marked);
    }
  }
  serve(name, step);
  return done;
}

Verbs::Head Verbs::serve(NameState& name, Step& step) {
  return serve(name, table_.living_head(name.name(), step.now), OwnerId{}, step);
}

Verbs::Head Verbs::serve(NameState& name, Head head, const OwnerId& stop, Step& step) {
  while (head && head->claim.owner != stop) {
    if (is_done(head->claim, step)) {
      table_.leave(head->ticket);  // it will ask, and hear that there is no need
      tell({.kind = WakeRow::Kind::maybe_free, .owner = head->claim.owner}, step);
    } else if (name.fits(head->claim)) {
      hand_off(name, *head, step);
    } else {
      break;
    }
    head = table_.living_head(name.name(), step.now);
  }
  return head;
}

void Verbs::hand_off(NameState& name, const WaiterRow& head, Step& step) {
  LeaseRow hold = new_hold(head.claim, step.now);
  make_provisional(hold, head.alive_until);
  const Granted granted = grant(name, std::move(hold), step);
  table_.leave(head.ticket);
  tell({.kind = WakeRow::Kind::handed_off,
        .owner = head.claim.owner,
        .fence = granted.fence,
        .floor = granted.floor},
       step);
}

Granted Verbs::grant_in_full(NameState& name, const Claim& claim, Step& step) {
  LeaseRow hold = new_hold(claim, step.now);
  const Duration ttl = refresh(hold, claim.ttl, step.now);
  Granted granted = grant(name, std::move(hold), step);
  granted.ttl = ttl;
  return granted;
}

Granted Verbs::grant(NameState& name, LeaseRow hold, Step& step) {
  if (step.flush == Flush::no) {
    throw NeedsFlush{};
  }
  const Fence last = name.is_known() ? name.last() : table_.fence_floor();
  if (to_int(last) == std::numeric_limits<std::int64_t>::max()) {
    throw Error(errc::storage_unsafe, "the fences of " + name.name() + " are used up");
  }
  hold.fence = Fence{std::max(to_int(last) + 1, step.unix_us)};
  hold.floor = name.floor_with(hold.fence);
  // A row that is used again costs one write less than a row that goes and one that comes.
  for (const std::int64_t spare : name.take_spare()) {
    if (hold.id == 0) {
      hold.id = spare;
    } else {
      table_.drop_lease(spare);
    }
  }
  table_.put(name.name(), hold);
  const Granted granted{hold.fence, hold.floor, Duration{0}};
  name.add(std::move(hold));
  return granted;
}

Granted Verbs::refresh_held(LeaseRow& row, Duration ttl, Step& step) {
  const Duration granted = refresh(row, ttl, step.now);
  table_.set_expiry(row);
  return {row.fence, row.floor, granted};
}

bool Verbs::leave_queue(const Claim& claim, Step& step) {
  const auto place = table_.find_place(claim.name, claim.owner, step.now);
  if (place) {
    table_.leave(place->ticket);
  }
  return place && place->alive;
}

// True if the run is marked done by this owner, now or before.
bool Verbs::finish_run(const Claim& claim, bool holds, Duration remember, Step& step) {
  if (remember <= Duration{0} || claim.run_id.empty()) {
    return false;
  }
  if (const auto done = table_.find_done(claim.name, claim.run_id, step.now)) {
    return done->owner == claim.owner;
  }
  if (holds) {
    if (step.flush == Flush::no) {
      throw NeedsFlush{};
    }
    table_.mark_done(claim, remember, step.now, step.unix_us);
    step.finished = true;
  }
  return holds;
}

bool Verbs::is_done(const Claim& claim, Step& step) {
  return !claim.run_id.empty() && table_.find_done(claim.name, claim.run_id, step.now).has_value();
}

// By value: the name forgets its own.
void Verbs::free(NameState& name, LeaseRow row, Step& step) {
  if (name.remove(row.owner)) {
    row.state = LeaseRow::State::idle;
    row.expires = step.now;
    table_.set_expiry(row);
  } else {
    table_.drop_lease(row.id);
  }
}

void Verbs::tell(const WakeRow& news, Step& step) {
  table_.log_wake(news);
  step.woke = true;
}

}  // namespace holdfast::sqlite

#include "store/sqlite/verbs.hpp"

#include <holdfast/error.hpp>

#include <algorithm>

namespace holdfast::sqlite {

std::optional<Busy> Verbs::glance(const Claim& claim, Instant now) {
  const auto row = table_.find(claim.name);
  if (row && row->is_live(now) && row->owner != claim.owner) {
    return Busy{left(row->expires, now), row->view(now)};
  }
  return std::nullopt;
}

AcquireReply Verbs::acquire(const Claim& claim, Store::Queueing queueing, Step& step) {
  if (table_.is_entombed(claim.owner, step.now)) {
    return Busy{};
  }
  LeaseRow row = table_.find(claim.name).value_or(LeaseRow{});
  if (row.is_live(step.now) && row.state == LeaseRow::State::held && row.owner == claim.owner) {
    const Duration ttl = refresh(row, claim.ttl, step.now);
    table_.set_expiry(row);
    return Granted{row.fence, row.fence, ttl};
  }
  if (!row.is_live(step.now)) {
    const auto head = table_.living_head(claim.name, step.now);
    if (!head || head->owner == claim.owner) {
      if (head) {
        table_.leave(head->ticket);
      }
      LeaseRow hold = new_hold(claim.owner, claim.lock_delay, claim.min_hold, claim.max_hold,
                               claim.who, step.now);
      const Duration ttl = refresh(hold, claim.ttl, step.now);
      grant(claim.name, row, hold, step);
      return Granted{row.fence, row.fence, ttl};
    }
    hand_off(claim.name, row, step);
  }
  if (queueing == Store::Queueing::no) {
    return Busy{left(row.expires, step.now), row.view(step.now)};
  }
  return enqueue(claim, row, step);
}

AcquireReply Verbs::enqueue(const Claim& claim, const LeaseRow& row, Step& step) {
  const auto place = table_.find_waiter(claim.name, claim.owner);
  if (place && place->is_alive(step.now)) {
    table_.beat(place->ticket, later(step.now, claim.liveness));
  } else {
    if (place) {
      table_.leave(place->ticket);  // too late: it joins at the end again
    }
    table_.join(claim, step.now);
  }
  return Queued{left(row.expires, step.now), row.view(step.now), row.fence};
}

RenewReply Verbs::renew(const Claim& claim, Step& step) {
  auto row = table_.find(claim.name);
  if (!row) {
    return Gone{GoneReason::taken};
  }
  if (!row->is_live(step.now)) {
    hand_off(claim.name, *row, step);
    return Gone{GoneReason::taken};
  }
  if (!row->is_held_by(claim.owner)) {
    return Gone{GoneReason::taken};
  }
  if (row->state == LeaseRow::State::broken) {
    return Gone{GoneReason::broken};
  }
  const Duration ttl = refresh(*row, claim.ttl, step.now);
  table_.set_expiry(*row);
  return Renewed{ttl};
}

WithdrawReply Verbs::withdraw(const Claim& claim, WithdrawOptions options, Step& step) {
  if (options.tombstone) {
    table_.entomb(claim.owner, later(step.now, claim.ttl), step.now);
  }
  bool had = false;
  if (const auto place = table_.find_waiter(claim.name, claim.owner)) {
    had = place->is_alive(step.now);
    table_.leave(place->ticket);
  }
  auto row = table_.find(claim.name);
  if (!row) {
    return had ? WithdrawReply{Released{}} : WithdrawReply{NotOwner{}};
  }
  if (row->is_live(step.now) && row->is_held_by(claim.owner)) {
    had = true;
    if (options.keep_min_hold && row->min_end && *row->min_end > step.now) {
      row->state = LeaseRow::State::released;
      row->expires = *row->min_end;
      table_.set_expiry(*row);
    } else {
      free(*row, step);
    }
  }
  if (!row->is_live(step.now)) {
    hand_off(claim.name, *row, step);
  }
  return had ? WithdrawReply{Released{}} : WithdrawReply{NotOwner{}};
}

BreakDone Verbs::break_name(const std::string& name, BreakMode mode, Step& step) {
  BreakDone done;
  auto row = table_.find(name);
  if (!row) {
    return done;
  }
  if (!row->is_live(step.now)) {
    hand_off(name, *row, step);
    return done;  // whom the end of a lease lets in is not whom the operator meant
  }
  done.holders.push_back(row->view(step.now));
  const bool nobody_inside = row->state == LeaseRow::State::released;
  if (!nobody_inside) {
    table_.log_wake(WakeRow::Kind::broken, row->owner, row->fence);
    step.woke = true;
  }
  if (nobody_inside || mode == BreakMode::now) {
    free(*row, step);
    hand_off(name, *row, step);
  } else {
    row->state = LeaseRow::State::broken;
    table_.set_expiry(*row);
  }
  return done;
}

// Moves `hold` into the row of the name with the next fence, and writes it.
void Verbs::grant(const std::string& name, LeaseRow& row, const LeaseRow& hold, Step& step) {
  if (step.flush == Flush::no) {
    throw NeedsFlush{};
  }
  const Fence last = row.id != 0 ? row.fence : table_.fence_floor();
  if (to_int(last) == std::numeric_limits<std::int64_t>::max()) {
    throw Error(errc::storage_unsafe, "the fences of " + name + " are used up");
  }
  const std::int64_t id = row.id;
  row = hold;
  row.id = id;
  row.fence = Fence{std::max(to_int(last) + 1, step.unix_us)};
  table_.put(name, row);
}

void Verbs::hand_off(const std::string& name, LeaseRow& row, Step& step) {
  const auto head = table_.living_head(name, step.now);
  if (!head) {
    return;
  }
  LeaseRow hold =
      new_hold(head->owner, head->lock_delay, head->min_hold, head->max_hold, head->who, step.now);
  make_provisional(hold, head->alive_until);
  grant(name, row, hold, step);
  table_.leave(head->ticket);
  table_.log_wake(WakeRow::Kind::handed_off, head->owner, row.fence);
  step.woke = true;
}

void Verbs::free(LeaseRow& row, Step& step) {
  row.state = LeaseRow::State::idle;
  row.expires = step.now;
  table_.set_expiry(row);
}

}  // namespace holdfast::sqlite

// The verbs of ModelServer: LockTable does them, and what they did is written down for the
// checkers.
#include "sim/model_server.hpp"

#include "base/mutation.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

constexpr std::size_t page_size = 100;

std::vector<OwnerId> holders_of(const NameView& view) {
  std::vector<OwnerId> owners;
  for (const Holder& holder : view.holders) {
    if (!holder.released) {
      owners.push_back(holder.owner);
    }
  }
  return owners;
}

StoreGranted grant_of(const Claim& claim, const Granted& granted) {
  return {claim.name, claim.owner, granted.fence, false, {}, use_of(claim), granted.floor};
}

}  // namespace

Answer ModelServer::run(const Request& request, const Connection& connection) {
  LockTable::Reading at = reading();
  if (mutated(Mutation::expiry_by_clients_clock)) {
    at.now = connection.client_clock;
  }
  return std::visit([&](const auto& verb) { return run(verb, at); }, request);
}

Answer ModelServer::run(const AcquireRequest& request, LockTable::Reading at) {
  LockTable::Notices notices;
  const Claim& claim = request.claim;
  AcquireReply answer = state_.table.acquire(claim, request.queueing, at, notices);
  if (std::holds_alternative<AlreadyDone>(answer)) {
    record(StoreDismissed{claim.name, claim.owner});  // and those behind it are served
  }
  // A holder that asks again serves nobody, nor does an owner that has withdrawn.
  bool served = std::holds_alternative<Queued>(answer) || !notices.empty();
  if (const auto* granted = std::get_if<Granted>(&answer)) {
    served = served || last_grants_[claim.owner] != granted->fence;
    tell(notices, grant_of(claim, *granted));
  } else {
    tell(notices);
  }
  if (std::holds_alternative<Queued>(answer)) {
    const StoreQueued queued{claim.name, claim.owner, claim.liveness, at.now, use_of(claim)};
    state_.beats[claim.owner] = queued;
    record(queued);
  }
  record_state(claim.name, served);
  return answer;
}

Answer ModelServer::run(const AcquireAllRequest& request, LockTable::Reading at) {
  LockTable::Notices notices;
  AcquireAllReply answer = state_.table.acquire_all(request.claims, at, notices);
  tell(notices);
  const auto* granted = std::get_if<AllGranted>(&answer);
  for (std::size_t i = 0; i < request.claims.size(); ++i) {
    if (granted != nullptr) {
      tell({}, grant_of(request.claims[i], (*granted)[i]));
    }
    record_state(request.claims[i].name, true);
  }
  return answer;
}

Answer ModelServer::run(const RenewRequest& request, LockTable::Reading at) {
  std::vector<RenewReply> answers;
  for (const Claim& claim : request.claims) {
    LockTable::Notices notices;
    answers.push_back(state_.table.renew(claim, at, notices));
    tell(notices);
    if (std::holds_alternative<Renewed>(answers.back())) {
      record(StoreRenewed{claim.name, claim.owner});
    }
    record_state(claim.name, true);
  }
  return answers;
}

Answer ModelServer::run(const AmendRequest& request, LockTable::Reading at) {
  LockTable::Notices notices;
  const Claim& claim = request.claim;
  const AmendReply answer = state_.table.amend(claim, at, notices);
  if (std::holds_alternative<Amended>(answer)) {
    record(StoreAmended{claim.name, claim.owner, claim.mode});
  }
  tell(notices);
  record_state(claim.name, true);
  return answer;
}

Answer ModelServer::run(const WithdrawRequest& request, LockTable::Reading at) {
  LockTable::Notices notices;
  const Claim& claim = request.claim;
  const auto before = holders_of(state_.table.inspect(claim.name, at));
  const bool was_done = state_.table.done_by(claim.name, claim.run_id, at).has_value();
  const WithdrawReply answer = state_.table.withdraw(claim, request.options, at, notices);
  const auto after = holders_of(state_.table.inspect(claim.name, at));
  StoreWithdrew withdrew{claim.name, claim.owner, {}, claim.ttl, at.now};
  for (const OwnerId& owner : before) {
    if (std::ranges::find(after, owner) == after.end()) {
      withdrew.ended.push_back(owner);
    }
  }
  record(withdrew);
  if (const auto by = state_.table.done_by(claim.name, claim.run_id, at); by && !was_done) {
    record(StoreMarked{claim.name, claim.run_id, *by, at.now, at.now + request.options.remember});
  }
  tell(notices);
  state_.beats.erase(claim.owner);
  record_state(claim.name, true);
  return answer;
}

Answer ModelServer::run(const BreakRequest& request, LockTable::Reading at) {
  LockTable::Notices notices;
  BreakDone done = state_.table.break_name(request.name, request.mode, at, notices);
  if (request.mode == BreakMode::now) {
    StoreForgot forgot{"break --now", {}, false, false, false, {}};
    for (const Holder& holder : done.holders) {
      forgot.owners.push_back(holder.owner);
    }
    record(forgot);
  }
  tell(notices);
  record_state(request.name, true);
  return BreakReply{std::move(done)};
}

Answer ModelServer::run(const InspectRequest& request, LockTable::Reading at) const {
  return InspectReply{state_.table.inspect(request.name, at)};
}

Answer ModelServer::run(const ListRequest& request, LockTable::Reading at) const {
  return ListReply{state_.table.list(request.prefix, request.cursor, page_size, at)};
}

// ---- facts -------------------------------------------------------------------------------------

void ModelServer::tell(const LockTable::Notices& notices,
                       const std::optional<StoreGranted>& granted) {
  bool recorded = !granted;
  for (const StoreEvent& notice : notices) {
    if (const auto* handed = std::get_if<HandedOff>(&notice)) {
      if (!recorded && granted->fence < handed->fence) {
        record_grant(*granted);  // grants are told in the order in which they were made
        recorded = true;
      }
      const StoreQueued& beat = state_.beats.at(handed->owner);
      unconfirmed_.insert(handed->owner);
      if (deposed()) {
        record(StoreDeposed{{handed->owner}});
      }
      record_grant({beat.name, handed->owner, handed->fence, true, {}, beat.use, handed->floor});
      send_wake(handed->owner, notice);
    } else if (const auto* broken = std::get_if<MarkedBroken>(&notice)) {
      send_wake(broken->owner, notice);
    } else if (const auto* hint = std::get_if<MaybeFree>(&notice)) {
      record(StoreDismissed{state_.beats.at(hint->owner).name, hint->owner});
      send_wake(hint->owner, notice);
    }
  }
  if (!recorded) {
    record_grant(*granted);
  }
}

void ModelServer::record_grant(StoreGranted granted) {
  Fence& last = last_grants_[granted.owner];
  if (last == granted.fence) {
    return;  // asked again
  }
  last = granted.fence;
  if (reading().unix_us <= to_int(forgotten_)) {
    record(StoreForgot{"the clock is behind a forgotten fence", {}, true, false, false, {}});
  }
  greatest_ = std::max(greatest_, granted.fence);
  granted.at = clock_.now();
  record(granted);
}

void ModelServer::record_state(const std::string& name, bool served) {
  const NameView view = state_.table.inspect(name, reading());
  record_ends(view);
  if (served) {
    record_stand(view);
  }
}

void ModelServer::record_ends(const NameView& view) {
  auto& last = last_ends_[view.name];
  std::map<OwnerId, WorldTime> ends;
  for (const Holder& holder : view.holders) {
    if (holder.released) {
      continue;
    }
    const WorldTime until = clock_.when(clock_.now() + holder.ttl_left);
    ends[holder.owner] = until;
    const auto known = last.find(holder.owner);
    if (known == last.end() || known->second != until) {
      record(StoreHolds{view.name, holder.owner, until});
    }
  }
  last = std::move(ends);
}

void ModelServer::record_stand(const NameView& view) {
  StoreStands stands{view.name, {}, {}};
  for (const Holder& holder : view.holders) {
    stands.holders.push_back({holder.owner,
                              {holder.mode, holder.permits, holder.limit, {}},
                              holder.fence,
                              holder.released});
  }
  if (!view.waiters.empty()) {
    const Waiter& head = view.waiters.front();
    stands.next.emplace(
        StoreStands::Place{head.owner, {head.mode, head.permits, head.limit, {}}, {}, false});
  }
  StoreStands& last = last_stands_[view.name];
  if (last != stands) {
    last = stands;
    record(stands);
  }
}

}  // namespace holdfast::sim

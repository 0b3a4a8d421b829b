// ModelServer as one of several: answers that wait for replicas, taking over, being deposed.
#include "sim/model_server.hpp"

#include "base/mutation.hpp"

#include <holdfast/error.hpp>

#include <algorithm>

namespace holdfast::sim {

namespace {

bool is_renewed(const RenewReply& reply) { return std::holds_alternative<Renewed>(reply); }

// What says yes becomes "no answer"; the rest stands.
Answer without_grants(Answer answer) {
  const Failed shortfall{errc::store_unavailable, true, "too few replicas have it"};
  if (auto* renewals = std::get_if<std::vector<RenewReply>>(&answer)) {
    std::ranges::replace_if(*renewals, is_renewed, RenewReply{shortfall});
    return answer;
  }
  return shortfall;
}

}  // namespace

// ---- acknowledgements --------------------------------------------------------------------------

std::size_t ModelServer::replicas_with(std::uint64_t offset) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(acks_, [&](const auto& ack) { return ack.second.offset >= offset; }));
}

bool ModelServer::enough_replicas() const {
  if (options_.min_replicas == 0) {
    return true;
  }
  const auto heard_of = std::ranges::count_if(acks_, [&](const auto& ack) {
    return world_.now() - ack.second.at <= options_.min_replicas_max_lag;
  });
  return static_cast<std::size_t>(heard_of) >= options_.min_replicas;
}

bool ModelServer::must_be_acknowledged(const Request& request, const Answer& answer) const {
  if (options_.acks == 0) {
    return false;
  }
  const auto is_confirmation = [this](const OwnerId& owner) {
    return unconfirmed_.contains(owner);
  };
  if (mutated(Mutation::handoff_confirmed_alone) &&
      std::ranges::any_of(owners_of(request), is_confirmation)) {
    return false;
  }
  return says_yes(answer);
}

void ModelServer::acknowledged(Place replica, std::uint64_t offset) {
  if (up_ && !frozen_ && leads_) {
    acks_[replica] = {offset, world_.now()};
    send_acknowledged();
  }
}

void ModelServer::send_acknowledged() {
  for (auto owed = owed_.begin(); owed != owed_.end();) {
    if (replicas_with(owed->second.offset) < options_.acks) {
      ++owed;
      continue;
    }
    Owed ready = std::move(owed->second);
    owed = owed_.erase(owed);
    send_answer(std::move(ready));
  }
}

void ModelServer::give_up_on_replicas(std::uint64_t number) {
  if (frozen_) {
    world_.after(options_.acks_timeout, [this, number] { give_up_on_replicas(number); });
    return;
  }
  auto found = owed_.extract(number);
  if (found.empty()) {
    return;
  }
  history_.count("too few replicas in time");
  Owed& owed = found.mapped();
  if (!mutated(Mutation::shortfall_is_a_grant)) {
    owed.answer = without_grants(std::move(owed.answer));
  }
  send_answer(std::move(owed));
}

// ---- taking over -------------------------------------------------------------------------------

ModelServer::Snapshot ModelServer::snapshot() const {
  return {reign_, offset_, std::make_shared<const State>(state_)};
}

bool ModelServer::take(const Snapshot& snapshot) {
  if (leads_ || !up_ || frozen_ || snapshot.reign < reign_) {
    return false;
  }
  if (snapshot.reign > reign_ || snapshot.offset > offset_) {
    reign_ = snapshot.reign;
    offset_ = snapshot.offset;
    state_ = *snapshot.state;
  }
  return true;
}

void ModelServer::follow() {
  go_down(Duration{0});
  up_ = true;
  leads_ = false;
  acks_.clear();
}

void ModelServer::forget() { state_ = {}; }

bool ModelServer::is_kept(const Holder& had, const NameView* has) const {
  return has != nullptr && std::ranges::any_of(has->holders, [&](const Holder& still) {
           return still.owner == had.owner && still.ttl_left + options_.skew >= had.ttl_left &&
                  still.value == had.value && still.mode == had.mode;
         });
}

std::vector<OwnerId> ModelServer::lost_by_promotion(const ModelServer& before) {
  // Everything that was trusted had reached every replica, but for what was handed on just now.
  const bool all_acknowledged = options_.acks > 0 && options_.acks == options_.replicas;
  const std::vector<NameView> after = everything().names;
  std::vector<OwnerId> lost;
  for (const NameView& had : before.everything().names) {
    const auto has = std::ranges::find(after, had.name, &NameView::name);
    for (const Holder& holder : had.holders) {
      if (!is_kept(holder, has == after.end() ? nullptr : &*has) &&
          (!all_acknowledged || before.unconfirmed_.contains(holder.owner))) {
        lost.push_back(holder.owner);
      }
    }
  }
  return lost;
}

void ModelServer::promote(const ModelServer& before, std::size_t reign) {
  leads_ = true;
  reign_ = reign;
  acks_.clear();
  unconfirmed_ = before.unconfirmed_;
  homes_ = before.homes_;
  last_grants_ = before.last_grants_;
  greatest_ = forgotten_ = before.greatest_;
  StoreForgot forgot{"promotion", lost_by_promotion(before), false, true, true, {}};
  forgot.at = before.clock_.now();
  forgot.gone = gone_since(before.everything().names);
  const std::vector<NameView> after = everything().names;
  for (const NameView& name : after) {
    for (const Waiter& waiter : name.waiters) {
      forgot.queues.push_back(state_.beats.at(waiter.owner));
    }
  }
  record(forgot);
  last_ends_.clear();
  last_stands_.clear();
  for (const NameView& name : after) {
    record_ends(name);
  }
}

// A deposed primary says what it is about to do, before anybody can take it for the store's word.
// Its grants and renewals count for nobody if all replicas have to acknowledge: there they cannot.
void ModelServer::own_up(const Request& request) {
  const bool changes = std::holds_alternative<AmendRequest>(request) ||
                       std::holds_alternative<WithdrawRequest>(request);
  const bool all_acknowledged = options_.acks > 0 && options_.acks == options_.replicas;
  std::vector<OwnerId> owners = owners_of(request);
  if (deposed() && !owners.empty() && (changes || !all_acknowledged)) {
    record(StoreDeposed{std::move(owners)});
  }
}

}  // namespace holdfast::sim

#include "tests/support/scripted_store.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace holdfast::test {

using Verb = ScriptedStore::Asked::Verb;

void ScriptedStore::keep(Asked asked) {
  asked_.push_back(std::move(asked));
  if (on_asked) {
    on_asked(asked_.back());
  }
}

ScriptedStore::Asked ScriptedStore::take(Verb verb) {
  const auto found = std::ranges::find(asked_, verb, &Asked::verb);
  if (found == asked_.end()) {
    throw std::logic_error{"the test answers a request that nobody sent"};
  }
  Asked asked = std::move(*found);
  asked_.erase(found);
  return asked;
}

std::size_t ScriptedStore::count(Verb verb) const {
  return static_cast<std::size_t>(std::ranges::count(asked_, verb, &Asked::verb));
}

void ScriptedStore::acquire(const Claim& claim, Queueing queueing,
                            UniqueFunction<void(AcquireReply)> done) {
  keep({.verb = Verb::acquire,
        .claims = {claim},
        .queueing = queueing,
        .acquired = std::move(done)});
}

void ScriptedStore::acquire_all(std::span<const Claim> claims,
                                UniqueFunction<void(AcquireAllReply)> done) {
  keep({.verb = Verb::acquire_all,
        .claims = {claims.begin(), claims.end()},
        .all_acquired = std::move(done)});
}

void ScriptedStore::renew(std::span<const Claim> claims,
                          UniqueFunction<void(std::vector<RenewReply>)> done) {
  keep({.verb = Verb::renew, .claims = {claims.begin(), claims.end()}, .renewed = std::move(done)});
}

void ScriptedStore::withdraw(const Claim& claim, WithdrawOptions options,
                             UniqueFunction<void(WithdrawReply)> done) {
  keep({.verb = Verb::withdraw,
        .claims = {claim},
        .options = options,
        .withdrawn = std::move(done)});
}

void ScriptedStore::listen(UniqueFunction<void(const StoreEvent&)> listener) {
  listener_ = std::move(listener);
}

void ScriptedStore::answer(const AcquireReply& reply) { take(Verb::acquire).acquired(reply); }

void ScriptedStore::answer_all(const AcquireAllReply& reply) {
  take(Verb::acquire_all).all_acquired(reply);
}

void ScriptedStore::answer(const RenewReply& reply) {
  Asked asked = take(Verb::renew);
  asked.renewed(std::vector<RenewReply>(asked.claims.size(), reply));
}

void ScriptedStore::answer(const std::vector<RenewReply>& replies) {
  take(Verb::renew).renewed(replies);
}

void ScriptedStore::answer(const WithdrawReply& reply) { take(Verb::withdraw).withdrawn(reply); }

// The engine sends none of these.
void ScriptedStore::inspect(const std::string&, UniqueFunction<void(InspectReply)>) {
  throw std::logic_error{"inspect is not scripted"};
}
void ScriptedStore::list(const std::string&, const std::string&, UniqueFunction<void(ListReply)>) {
  throw std::logic_error{"list is not scripted"};
}
void ScriptedStore::break_name(const std::string&, BreakMode, UniqueFunction<void(BreakReply)>) {
  throw std::logic_error{"break_name is not scripted"};
}
void ScriptedStore::diagnose(UniqueFunction<void(std::vector<Finding>)>) {
  throw std::logic_error{"diagnose is not scripted"};
}

}  // namespace holdfast::test

// Random answers to several names at once, from a store that really grants: what is not had at the
// end was given back, no owner asks after its withdraw, and nothing is trusted that was not
// granted.
#include "core/acquire_all_machine.hpp"
#include "core/trust.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class Collecting {
 public:
  Collecting() {
    const int count = *rc::gen::inRange(1, 5);
    std::vector<Claim> claims;
    for (int i = 0; i < count; ++i) {
      Claim claim;
      claim.name = std::string(1, static_cast<char>('a' + i));
      claim.owner = fresh();
      claim.ttl = std::chrono::milliseconds{*rc::gen::inRange(100, 60'000)};
      claims.push_back(claim);
    }
    if (*rc::gen::arbitrary<bool>()) {
      deadline_ = now_ + std::chrono::milliseconds{*rc::gen::inRange(0, 20'000)};
    }
    machine_.emplace(std::move(claims), std::nullopt, deadline_, *rc::gen::arbitrary<bool>(),
                     [this] { return fresh(); });
    see(machine_->start(now_));
  }

  void step() {
    if (machine_->finished()) {
      return;
    }
    now_ += std::chrono::milliseconds{*rc::gen::inRange(0, 3'000)};
    const int what = *rc::gen::inRange(0, 12);
    if (what == 0) {
      see(machine_->cancel(now_));
    } else if (what < 4) {
      see(machine_->on_timer(now_));
    } else if (machine_->queueing()) {
      end_queue();
    } else if (asked_) {
      answer();
    } else if (const auto next = machine_->next_timer()) {
      now_ = std::max(now_, *next);
      see(machine_->on_timer(now_));
    }
    check();
  }

 private:
  OwnerId fresh() {
    OwnerId owner;
    ++owners_;
    owner.bytes[0] = static_cast<std::uint8_t>(owners_ >> 8U);
    owner.bytes[1] = static_cast<std::uint8_t>(owners_);
    return owner;
  }

  // What the store has of ours, or may have yet.
  void may_hold(const Claim& claim) { in_store_.insert(claim.owner); }

  void see(AcquireAllAction action) {
    for (const auto& [claim, options] : machine_->take_give_backs()) {
      RC_ASSERT(withdrawn_.insert(claim.owner).second);  // once is enough: the driver repeats it
      RC_ASSERT((options.tombstone || !unanswered_.contains(claim.owner)));
      in_store_.erase(claim.owner);
    }
    asked_ = action == AcquireAllAction::ask_all || action == AcquireAllAction::ask_one
                 ? std::optional{action}
             : action == AcquireAllAction::wait ? asked_
                                                : std::nullopt;
    if (action == AcquireAllAction::ask_all) {
      for (const Claim& claim : machine_->claims()) {
        asks(claim);
      }
    } else if (action == AcquireAllAction::ask_one || action == AcquireAllAction::queue) {
      asks(machine_->claims()[machine_->index()]);
    }
    RC_ASSERT((action == AcquireAllAction::finish) == machine_->finished());
  }

  void asks(const Claim& claim) {
    RC_ASSERT(!withdrawn_.contains(claim.owner));
    unanswered_.insert(claim.owner);
    sent_ = now_;
  }

  void answer() {
    const AcquireAllAction how = *asked_;
    asked_.reset();
    const auto claims = machine_->claims();
    const std::size_t index = machine_->index();
    const auto answered = [&] {
      for (std::size_t i = 0; i < claims.size(); ++i) {
        if (how == AcquireAllAction::ask_all || i == index) {
          unanswered_.erase(claims[i].owner);
        }
      }
    };
    const std::uint64_t ask = machine_->ask_id();
    const int what = *rc::gen::inRange(0, 6);
    if (what == 0) {
      const Failed unknown{errc::outcome_unknown, true, "no answer"};
      see(how == AcquireAllAction::ask_all ? machine_->on_reply(ask, AcquireAllReply{unknown}, now_)
                                           : machine_->on_reply(ask, AcquireReply{unknown}, now_));
      return;
    }
    answered();
    if (what == 1) {
      const Failed refused{errc::store_unavailable, false, "refused"};
      see(how == AcquireAllAction::ask_all ? machine_->on_reply(ask, AcquireAllReply{refused}, now_)
                                           : machine_->on_reply(ask, AcquireReply{refused}, now_));
    } else if (how == AcquireAllAction::ask_all && what == 2) {
      const auto which = *rc::gen::inRange<std::size_t>(0, claims.size());
      see(machine_->on_reply(ask, AcquireAllReply{AllBusy{which, Busy{1s, {}}}}, now_));
    } else if (how == AcquireAllAction::ask_all) {
      AllGranted all;
      for (const Claim& claim : claims) {
        may_hold(claim);
        all.push_back({Fence{5}, Fence{5}, claim.ttl});
      }
      see(machine_->on_reply(ask, AcquireAllReply{all}, now_));
    } else if (what == 2) {
      see(machine_->on_reply(ask, AcquireReply{Busy{1s, {}}}, now_));
    } else {
      may_hold(claims[index]);
      see(machine_->on_reply(ask, AcquireReply{Granted{Fence{5}, Fence{5}, claims[index].ttl}},
                             now_));
    }
  }

  void end_queue() {
    const Claim claim = machine_->claims()[machine_->index()];
    AcquireResult result;
    if (*rc::gen::inRange(0, 4) == 0) {
      result.code = errc::timed_out;  // and its own wait withdraws it
      withdrawn_.insert(claim.owner);
    } else {
      may_hold(claim);
      result.ttl = claim.ttl;
      result.sent = sent_;
      result.trusted_until = now_ + claim.ttl / 2;
      result.tombstone = *rc::gen::arbitrary<bool>();
    }
    if (!result.tombstone) {
      unanswered_.erase(claim.owner);
    }
    see(machine_->on_queue_end(result, now_));
  }

  void check() {
    if (!machine_->finished()) {
      RC_ASSERT((asked_ || machine_->queueing() || machine_->next_timer()));  // somebody wakes it
      return;
    }
    std::set<OwnerId> had;
    for (std::size_t i = 0; i < machine_->claims().size(); ++i) {
      const auto& grant = machine_->grants()[i];
      RC_ASSERT(grant.has_value() == !machine_->result().code);
      if (grant) {
        had.insert(machine_->claims()[i].owner);
        RC_ASSERT(grant->trusted_until > now_);
      }
    }
    RC_ASSERT(in_store_ == had);  // everything else was given back
    for (const OwnerId& owner : unanswered_) {
      RC_ASSERT((withdrawn_.contains(owner) || had.contains(owner)));
    }
  }

  Instant now_{1h};
  Instant sent_{};
  std::optional<Instant> deadline_{};
  std::optional<AcquireAllMachine> machine_{};
  std::optional<AcquireAllAction> asked_{};
  unsigned owners_ = 0;
  std::set<OwnerId> in_store_{};
  std::set<OwnerId> withdrawn_{};
  std::set<OwnerId> unanswered_{};  // an ask of it may still be executed
};

RC_GTEST_PROP(AcquireAllMachineProperty, HoldsAllOrNothing, ()) {
  Collecting collecting;
  for (int i = 0; i < 40; ++i) {
    collecting.step();
  }
}

}  // namespace
}  // namespace holdfast

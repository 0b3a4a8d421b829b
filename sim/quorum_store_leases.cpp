// QuorumStore's part in what is held: renewals, giving back, nodes that forgot.
#include "sim/quorum_store.hpp"

#include <holdfast/error.hpp>

#include <utility>

namespace holdfast::sim {

namespace {

constexpr Duration again_in = std::chrono::milliseconds{200};  // a node that is still unmarked

}  // namespace

// ---- renew -------------------------------------------------------------------------------------

struct QuorumStore::Renewal {
  struct One {
    Claim claim{};
    std::set<std::size_t> renewed{};
    std::set<std::size_t> gone{};
    bool judged = false;
    RenewReply reply{};
  };
  std::vector<One> ones{};
  std::size_t open = 0;
  UniqueFunction<void(std::vector<RenewReply>)> done{};
  Runtime::TimerId timer = 0;
};

void QuorumStore::renew(std::span<const Claim> claims,
                        UniqueFunction<void(std::vector<RenewReply>)> done) {
  auto renewal = std::make_shared<Renewal>();
  renewal->done = std::move(done);
  renewal->open = claims.size();
  for (const Claim& claim : claims) {
    record(Verb::renew, claim);
    renewal->ones.push_back({claim, {}, {}, false, Failed{errc::outcome_unknown, true, {}}});
  }
  renewal->timer = later(options_.op_timeout, [this, renewal] {
    for (std::size_t which = 0; which < renewal->ones.size(); ++which) {
      if (!std::exchange(renewal->ones[which].judged, true)) {
        --renewal->open;
      }
    }
    judge(renewal);
  });
  for (std::size_t which = 0; which < claims.size(); ++which) {
    renew_one(renewal, which);
  }
}

void QuorumStore::renew_one(const std::shared_ptr<Renewal>& renewal, std::size_t which) {
  for (std::size_t i = 0; i < size(); ++i) {
    call<bool>(
        i, [claim = renewal->ones[which].claim](QuorumNode& node) { return node.renew(claim); },
        [this, renewal, which, i](bool renewed) {
          Renewal::One& one = renewal->ones[which];
          (renewed ? one.renewed : one.gone).insert(i);
          const bool holds = one.renewed.size() >= quorum_.majority();
          if (!one.judged && (holds || one.gone.size() > size() - quorum_.majority())) {
            one.reply = holds ? RenewReply{Renewed{one.claim.ttl}} : RenewReply{Gone{}};
            one.judged = true;
            --renewal->open;
            if (holds) {
              quorum_.tell_end(one.claim);
              history_.record(StoreRenewed{one.claim.name, one.claim.owner});
            }
          }
          if (holds && std::holds_alternative<Renewed>(one.reply)) {
            for (const std::size_t node : std::exchange(one.gone, {})) {
              call<bool>(
                  node, [claim = one.claim](QuorumNode& at) { return at.restore(claim); },
                  [](bool) {});
            }
          }
          judge(renewal);
        });
  }
}

void QuorumStore::judge(const std::shared_ptr<Renewal>& renewal) {
  if (renewal->open != 0 || !renewal->done) {
    return;
  }
  runtime_.cancel(renewal->timer);
  std::vector<RenewReply> replies;
  for (const Renewal::One& one : renewal->ones) {
    replies.push_back(one.reply);
  }
  std::exchange(renewal->done, {})(std::move(replies));
}

// ---- withdraw ----------------------------------------------------------------------------------

struct QuorumStore::Withdrawal {
  std::set<std::size_t> answered{};
  bool ours = false;
  UniqueFunction<void(WithdrawReply)> done{};
  Runtime::TimerId timer = 0;
};

void QuorumStore::withdraw(const Claim& claim, WithdrawOptions /*options*/,
                           UniqueFunction<void(WithdrawReply)> done) {
  record(Verb::withdraw, claim);
  quorum_.withdrew(claim.owner);
  auto withdrawal = std::make_shared<Withdrawal>();
  withdrawal->done = std::move(done);
  withdrawal->timer = later(options_.op_timeout, [withdrawal] {
    std::exchange(withdrawal->done, {})(Failed{errc::outcome_unknown, true, "some nodes"});
  });
  for (std::size_t i = 0; i < size(); ++i) {
    call<bool>(
        i,
        // Always with a tombstone: a lock may still be on its way to a node that a grant did not
        // need.
        [claim](QuorumNode& node) { return node.withdraw(claim, true); },
        [this, withdrawal, claim, i](bool ours) {
          if (ours && !std::exchange(withdrawal->ours, true)) {
            history_.record(StoreWithdrew{claim.name,
                                          claim.owner,
                                          {claim.owner},
                                          claim.ttl,
                                          Instant{world_.now().time_since_epoch()}});
          }
          withdrawal->answered.insert(i);
          if (!withdrawal->done || withdrawal->answered.size() < size()) {
            return;  // a node that did not answer may keep it: not done before all are heard of
          }
          runtime_.cancel(withdrawal->timer);
          auto answer = std::exchange(withdrawal->done, {});
          if (withdrawal->ours) {
            answer(Released{});
          } else {
            answer(NotOwner{});
          }
        });
  }
}

// ---- a node that forgot ------------------------------------------------------------------------

void QuorumStore::mark_again(std::size_t node) {
  if (!marking_.insert(node).second) {
    return;
  }
  const auto heard = std::make_shared<std::set<std::size_t>>();
  const auto floor = std::make_shared<Fence>(Fence::none);
  for (std::size_t i = 0; i < size(); ++i) {
    if (i == node) {
      continue;
    }
    call<std::optional<Fence>>(
        i, [](QuorumNode& at) { return at.high(); },
        [this, heard, floor, node, i](std::optional<Fence> high) {
          if (!high || !heard->insert(i).second) {
            return;
          }
          *floor = std::max(*floor, *high);
          if (heard->size() == quorum_.majority()) {
            call<bool>(
                node,
                [floor = *floor](QuorumNode& at) {
                  at.join(floor);
                  return true;
                },
                [](bool) {});
          }
        });
  }
  later(again_in, [this, node] { marking_.erase(node); });
}

}  // namespace holdfast::sim

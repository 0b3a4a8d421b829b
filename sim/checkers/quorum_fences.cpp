// The fences of a quorum: no two grants of a name have the same, and they rise in the order in
// which their quorums were complete. That order need not be the one in which clients hear of it: an
// answer may be slow. A holder has the fence of its grant. No clock is asked, and no node that
// forgot is excused: that is what its mark is for.
#include "sim/checkers/checkers.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

class QuorumFences final : public Checker {
 public:
  QuorumFences() : Checker("quorum fences") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* granted = std::get_if<StoreGranted>(&fact)) {
      grant(*granted, now);
    } else if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      const auto known = fences_.find(trusts->owner);
      if (known == fences_.end() || known->second != trusts->fence) {
        object(now, short_text(trusts->owner) + " has a fence that no quorum gave it");
      } else {
        judge_renewal(*trusts, now);
      }
    }
  }

 private:
  // Its proof was sent less than a TTL before its end. If by then a later grant was complete, its
  // quorum had a node in common with it, which no longer knows this lease: whatever went wrong with
  // nodes and clocks, no quorum can have renewed it.
  void judge_renewal(const Trusts& trusts, WorldTime now) {
    WorldTime& until = until_[trusts.owner];
    if (trusts.until > until) {
      for (const auto& [complete, granted] : grants_[trusts.name]) {
        if (until != WorldTime{} && granted.fence > trusts.fence &&
            WorldTime{complete.time_since_epoch()} < trusts.until - trusts.ttl) {
          object(now, short_text(trusts.owner) + " was renewed in " + trusts.name + " after " +
                          short_text(granted.owner) + " had been granted it");
          break;
        }
      }
    }
    until = std::max(until, trusts.until);
  }

  void grant(const StoreGranted& granted, WorldTime now) {
    fences_[granted.owner] = granted.fence;
    auto& grants = grants_[granted.name];
    const auto place = grants.emplace(granted.at, granted);
    for (auto other = grants.begin(); other != grants.end(); ++other) {
      const StoreGranted& it = other->second;
      const bool same = other == place || (it.owner == granted.owner && it.fence == granted.fence);
      const bool rises =
          other->first <= place->first ? it.fence < granted.fence : it.fence > granted.fence;
      if (!same && !rises) {
        object(now, "fence " + std::to_string(to_int(granted.fence)) + " of " + granted.name +
                        " for " + short_text(granted.owner) + " and " +
                        std::to_string(to_int(it.fence)) + " for " + short_text(it.owner) +
                        " are not in the order of their grants");
        return;
      }
    }
  }

  std::map<OwnerId, Fence> fences_{};
  std::map<OwnerId, WorldTime> until_{};
  // By the moment at which the quorum was complete.
  std::map<std::string, std::multimap<Instant, StoreGranted>> grants_{};
};

}  // namespace

std::unique_ptr<Checker> make_quorum_fence_checker() { return std::make_unique<QuorumFences>(); }

}  // namespace holdfast::sim

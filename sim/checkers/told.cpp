// After a failover whoever lost its lease to it is told within one round trip of its client's being
// connected to the new primary: the client doubts everything it holds, and asks at once. One that
// waits for its next renewal would work on for up to a third of its TTL. (Nothing is asked of a
// node that is in trouble just then.)
#include "sim/checkers/checkers.hpp"

#include <set>

namespace holdfast::sim {

namespace {

class ToldInTime final : public Checker {
 public:
  explicit ToldInTime(Duration bound) : Checker("told in time"), bound_(bound) {}

  void hear(const Fact& fact, WorldTime now) override {
    std::erase_if(due_, [&](const auto& due) {
      if (due.second < now) {
        object(now,
               short_text(due.first) + " was not told at once that the failover cost its lease");
      }
      return due.second < now;
    });
    std::visit([&](const auto& f) { on(f, now); }, fact);
  }

 private:
  template <class Other>
  void on(const Other& /*fact*/, WorldTime /*now*/) {}

  void on(const Trusts& f, WorldTime /*now*/) { holders_[f.owner] = f.node; }
  void on(const Ended& f, WorldTime /*now*/) { forget(f.owner); }
  void on(const Crashed& f, WorldTime /*now*/) { forgive(f.node, true); }
  void on(const Paused& f, WorldTime /*now*/) { trouble(f.node, f.on); }
  void on(const Trouble& f, WorldTime /*now*/) { trouble(f.node, f.on); }
  void on(const StoreForgot& f, WorldTime /*now*/) {
    gone_.clear();
    gone_.insert(f.gone.begin(), f.gone.end());
    due_.clear();  // another one has come over it
  }
  void on(const StoreGranted& f, WorldTime /*now*/) {
    if (!deposed()) {
      gone_.erase(f.owner);
      due_.erase(f.owner);
    }
  }
  void on(const Doubts& f, WorldTime now) {
    if (troubles_[f.node] > 0) {
      return;
    }
    for (const auto& [owner, node] : holders_) {
      if (node == f.node && gone_.contains(owner)) {
        due_.try_emplace(owner, now + bound_);
      }
    }
  }

  void forget(const OwnerId& owner) {
    holders_.erase(owner);
    due_.erase(owner);
  }
  void trouble(NodeId node, bool on) {
    troubles_[node] += on ? 1 : -1;
    forgive(node, false);
  }
  void forgive(NodeId node, bool all) {
    std::erase_if(due_, [&](const auto& due) { return holders_[due.first] == node; });
    if (all) {
      std::erase_if(holders_, [&](const auto& holder) { return holder.second == node; });
    }
  }

  Duration bound_;
  std::map<OwnerId, NodeId> holders_{};
  std::map<NodeId, int> troubles_{};
  std::set<OwnerId> gone_{};
  std::map<OwnerId, WorldTime> due_{};
};

}  // namespace

std::unique_ptr<Checker> make_told_checker(Duration bound) {
  return std::make_unique<ToldInTime>(bound);
}

}  // namespace holdfast::sim

// A loss is told once, never after a release, and at or before the end of the trust window, give or
// take the lateness of timers. A paused node is told when it runs again.
#include "sim/checkers/checkers.hpp"

#include <algorithm>
#include <set>

namespace holdfast::sim {

namespace {

class Loss final : public Checker {
 public:
  explicit Loss(Duration late) : Checker("loss"), late_(late) {}

  void hear(const Fact& fact, WorldTime now) override {
    look_for_untold(now);
    if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      trust(*trusts, now);
    } else if (const auto* ended = std::get_if<Ended>(&fact)) {
      end(*ended, now);
    } else if (const auto* paused = std::get_if<Paused>(&fact)) {
      pause(*paused, now);
    } else if (const auto* crashed = std::get_if<Crashed>(&fact)) {
      paused_.erase(crashed->node);
      std::erase_if(held_, [&](const auto& h) { return h.second.node == crashed->node; });
    }
  }

 private:
  struct Held {
    NodeId node = 0;
    WorldTime tell_by{};
  };

  void trust(const Trusts& trusts, WorldTime now) {
    if (ended_.contains(trusts.owner)) {
      object(now, short_text(trusts.owner) + " is trusted again after its lease had ended");
      return;
    }
    held_[trusts.owner] = {trusts.node, std::max(trusts.until, now) + late_};
  }

  void end(const Ended& ended, WorldTime now) {
    held_.erase(ended.owner);
    if (!ended_.insert(ended.owner).second && ended.how == Ending::lost) {
      object(now, short_text(ended.owner) + " was lost after its lease had ended");
    }
  }

  void pause(const Paused& paused, WorldTime now) {
    if (paused.on) {
      paused_.insert(paused.node);
      return;
    }
    paused_.erase(paused.node);
    for (auto& [owner, held] : held_) {
      if (held.node == paused.node) {
        held.tell_by = std::max(held.tell_by, now + late_);
      }
    }
  }

  void look_for_untold(WorldTime now) {
    for (auto held = held_.begin(); held != held_.end();) {
      if (now <= held->second.tell_by || paused_.contains(held->second.node)) {
        ++held;
        continue;
      }
      object(now, short_text(held->first) + " was not told that its trust had ended");
      held = held_.erase(held);
    }
  }

  Duration late_;
  std::map<OwnerId, Held> held_{};
  std::set<OwnerId> ended_{};
  std::set<NodeId> paused_{};
};

}  // namespace

std::unique_ptr<Checker> make_loss_checker(Duration late) { return std::make_unique<Loss>(late); }

}  // namespace holdfast::sim

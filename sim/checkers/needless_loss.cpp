// No lease is lost without a cause. `taken` needs a store that forgot, or trust that was over;
// `broken` needs an operator; `expired` needs trouble (a fault, a pause) not long ago: one failed
// renewal does not end the watchdog. `expired` of a lease that is never renewed is no loss to
// judge.
#include "sim/checkers/checkers.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <set>

namespace holdfast::sim {

namespace {

class NeedlessLoss final : public Checker {
 public:
  explicit NeedlessLoss(Duration bound) : Checker("needless loss"), bound_(bound) {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      trust_[trusts->owner] = *trusts;
    } else if (const auto* ended = std::get_if<Ended>(&fact)) {
      if (ended->how == Ending::lost) {
        judge(*ended, now);
      }
    } else if (const auto* forgot = std::get_if<StoreForgot>(&fact)) {
      forgotten_.insert(forgot->owners.begin(), forgot->owners.end());
      forgotten_.insert(forgot->gone.begin(), forgot->gone.end());
    } else if (const auto* split = std::get_if<StoreDeposed>(&fact)) {
      forgotten_.insert(split->owners.begin(), split->owners.end());
    } else if (const auto* trouble = std::get_if<Trouble>(&fact)) {
      note(trouble->node, trouble->on, now);
    } else if (const auto* paused = std::get_if<Paused>(&fact)) {
      note(paused->node, paused->on, now);
    } else if (const auto* crashed = std::get_if<Crashed>(&fact)) {
      calm_[crashed->node].since = now;
    }
  }

 private:
  struct Calm {
    int troubles = 0;
    WorldTime since{};
  };

  void note(NodeId node, bool on, WorldTime now) {
    Calm& calm = calm_[node];
    calm.troubles += on ? 1 : -1;
    calm.since = now;
  }

  void judge(const Ended& ended, WorldTime now) {
    const Calm& calm = calm_[ended.node];
    const Trusts& trust = trust_[ended.owner];
    if (ended.code == errc::taken && now < trust.until && !forgotten_.contains(ended.owner)) {
      object(now, short_text(ended.owner) + " lost " + ended.name +
                      " as taken, but the store had not forgotten it");
    } else if (ended.code == errc::expired && !trust.fixed && calm.troubles == 0 &&
               now - calm.since > bound_) {
      object(now, short_text(ended.owner) + " lost " + ended.name + " by expiry in calm times");
    }
  }

  Duration bound_;
  std::map<NodeId, Calm> calm_{};
  std::set<OwnerId> forgotten_{};
  std::map<OwnerId, Trusts> trust_{};
};

}  // namespace

std::unique_ptr<Checker> make_needless_loss_checker(Duration bound) {
  return std::make_unique<NeedlessLoss>(bound);
}

}  // namespace holdfast::sim

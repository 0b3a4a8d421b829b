// A lease ends for its holder before it can end for the store: at the moment a trust window begins
// or moves, the store's record must last longer. Stronger than exclusion, because it needs no rival
// to come at the right moment. Leases that the store forgot are not judged. A lease that is not
// renewed is over one TTL after its grant, or after the first renewal that confirms a hand-off.
#include "sim/checkers/checkers.hpp"

#include "core/trust.hpp"

#include <set>

namespace holdfast::sim {

namespace {

class Window final : public Checker {
 public:
  Window() : Checker("window") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* granted = std::get_if<StoreGranted>(&fact)) {
      if (granted->handed_on) {
        handed_on_.insert(granted->owner);
      }
    } else if (const auto* split = std::get_if<StoreDeposed>(&fact)) {
      forgotten_.insert(split->owners.begin(), split->owners.end());
    } else if (const auto* holds = std::get_if<StoreHolds>(&fact)) {
      if (!deposed()) {
        ends_[holds->owner] = holds->until;
      }
    } else if (const auto* forgot = std::get_if<StoreForgot>(&fact)) {
      forgotten_.insert(forgot->owners.begin(), forgot->owners.end());
    } else if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      judge(*trusts, now);
    }
  }

 private:
  void judge(const Trusts& trusts, WorldTime now) {
    if (forgotten_.contains(trusts.owner) || trusts.until <= now) {
      return;
    }
    const WorldTime began = began_.try_emplace(trusts.owner, now).first->second;
    // A hand-off lasts for a liveness until a renewal confirms it; the TTL counts from then.
    const Duration provisional =
        handed_on_.contains(trusts.owner) ? liveness_of(trusts.ttl) : Duration{0};
    const auto end = ends_.find(trusts.owner);
    if (end == ends_.end()) {
      object(now, short_text(trusts.owner) + " trusts " + trusts.name +
                      " but the store never granted it");
    } else if (trusts.until > end->second) {
      object(now, short_text(trusts.owner) + " trusts " + trusts.name +
                      " for longer than the store keeps it, by " +
                      std::to_string((trusts.until - end->second).count()) + " ns");
    } else if (trusts.fixed && trusts.until > began + trusts.ttl + provisional) {
      object(now, short_text(trusts.owner) + " trusts " + trusts.name +
                      " for longer than the one TTL of a lease that is not renewed");
    }
  }

  std::map<OwnerId, WorldTime> began_{};
  std::set<OwnerId> handed_on_{};
  std::map<OwnerId, WorldTime> ends_{};
  std::set<OwnerId> forgotten_{};
};

}  // namespace

std::unique_ptr<Checker> make_window_checker() { return std::make_unique<Window>(); }

}  // namespace holdfast::sim

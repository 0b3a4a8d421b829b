// A record is its owner's alone: nobody else renews or removes it, and one that ended does not come
// back without a new grant.
#include "sim/checkers/checkers.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

class Records final : public Checker {
 public:
  Records() : Checker("records") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* granted = std::get_if<StoreGranted>(&fact)) {
      granted_[granted->name] = granted->owner;
      records_.erase(granted->name);
    } else if (const auto* holds = std::get_if<StoreHolds>(&fact)) {
      hold(*holds, now);
    } else if (const auto* renewed = std::get_if<StoreRenewed>(&fact)) {
      if (granted_[renewed->name] != renewed->owner) {
        object(now,
               short_text(renewed->owner) + " renewed " + renewed->name + ", which is another's");
      }
    } else if (const auto* withdrew = std::get_if<StoreWithdrew>(&fact)) {
      withdraw(*withdrew, now);
    } else if (const auto* forgot = std::get_if<StoreForgot>(&fact)) {
      records_.clear();  // by a clock that was set back, an ended record may go on
      if (forgot->state_replaced) {
        granted_.clear();
        replaced_ = true;
      }
    }
  }

 private:
  void hold(const StoreHolds& holds, WorldTime now) {
    if (replaced_ && !granted_.contains(holds.name)) {
      granted_[holds.name] = holds.owner;  // what a replica brought along
    }
    const auto record = records_.find(holds.name);
    if (granted_[holds.name] != holds.owner) {
      object(now, "the store holds " + holds.name + " for " + short_text(holds.owner) +
                      " without a grant");
    } else if (record != records_.end() && record->second < now) {
      object(now, "the record of " + holds.name + " for " + short_text(holds.owner) +
                      " came back after it had ended");
    }
    records_[holds.name] = holds.until;
  }

  void withdraw(const StoreWithdrew& withdrew, WorldTime now) {
    for (const OwnerId& owner : withdrew.ended) {
      if (owner != withdrew.owner) {
        object(now, short_text(withdrew.owner) + " removed the record of " + short_text(owner));
      }
    }
  }

  std::map<std::string, OwnerId> granted_{};
  std::map<std::string, WorldTime> records_{};
  bool replaced_ = false;
};

}  // namespace

std::unique_ptr<Checker> make_record_checker() { return std::make_unique<Records>(); }

}  // namespace holdfast::sim

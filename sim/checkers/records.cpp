// A record is its owner's alone: nobody else renews or removes it, and one that ended does not come
// back without a new grant.
#include "sim/checkers/checkers.hpp"

#include <optional>

namespace holdfast::sim {

namespace {

class Records final : public Checker {
 public:
  Records() : Checker("records") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* granted = std::get_if<StoreGranted>(&fact)) {
      ends()[granted->owner] = WorldTime::max();
    } else if (const auto* holds = std::get_if<StoreHolds>(&fact)) {
      hold(*holds, now);
    } else if (const auto* renewed = std::get_if<StoreRenewed>(&fact)) {
      if (!is_held_by(renewed->owner, now)) {
        object(now,
               short_text(renewed->owner) + " renewed " + renewed->name + ", which is not its own");
      }
    } else if (const auto* amended = std::get_if<StoreAmended>(&fact)) {
      if (!is_held_by(amended->owner, now)) {
        object(now,
               short_text(amended->owner) + " amended " + amended->name + ", which is not its own");
      }
    } else if (const auto* withdrew = std::get_if<StoreWithdrew>(&fact)) {
      withdraw(*withdrew, now);
    } else if (const auto* forgot = std::get_if<StoreForgot>(&fact)) {
      forget(*forgot, now);
    }
  }

 private:
  using Ends = std::map<OwnerId, WorldTime>;  // of the records; an owner has one in its life
  Ends& ends() { return ends_[reign()]; }

  bool is_held_by(const OwnerId& owner, WorldTime now) {
    const auto end = ends().find(owner);
    return end != ends().end() && end->second >= now;
  }

  void hold(const StoreHolds& holds, WorldTime now) {
    const auto end = ends().find(holds.owner);
    if (end == ends().end()) {
      if (!(replaced_ && now == forgot_at_)) {  // what a replica brings along is told at once
        object(now, "the store holds " + holds.name + " for " + short_text(holds.owner) +
                        " without a grant");
      }
    } else if (end->second < now) {
      object(now, "the record of " + holds.name + " for " + short_text(holds.owner) +
                      " came back after it had ended");
    }
    ends()[holds.owner] = holds.until;
  }

  void withdraw(const StoreWithdrew& withdrew, WorldTime now) {
    for (const OwnerId& owner : withdrew.ended) {
      if (owner != withdrew.owner) {
        object(now, short_text(withdrew.owner) + " removed the record of " + short_text(owner));
      }
      ends().erase(owner);
    }
  }

  void forget(const StoreForgot& forgot, WorldTime now) {
    forgot_at_ = now;
    for (auto& [owner, end] : ends()) {
      end = WorldTime::max();  // by a clock that was set back, an ended record may go on
    }
    if (forgot.state_replaced) {
      ends().clear();
      replaced_ = true;
    }
  }

  std::map<std::size_t, Ends> ends_{};  // by reign
  bool replaced_ = false;
  std::optional<WorldTime> forgot_at_{};
};

}  // namespace

std::unique_ptr<Checker> make_record_checker() { return std::make_unique<Records>(); }

}  // namespace holdfast::sim

// The floor of a grant is the lowest fence among those who hold the name after it, no lower: else a
// guard would admit what is stale; and no higher: else it would refuse who is still inside. A
// holder knows the floor that the store gave it.
#include "sim/checkers/checkers.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

class Floors final : public Checker {
 public:
  Floors() : Checker("floors") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* granted = std::get_if<StoreGranted>(&fact)) {
      floors_[granted->owner].push_back(*granted);
      fresh_[granted->name].push_back(*granted);
    } else if (const auto* stands = std::get_if<StoreStands>(&fact)) {
      judge(*stands, now);
    } else if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      trust(*trusts, now);
    }
  }

 private:
  // The first look at the name after the grants: nobody has left in between.
  void judge(const StoreStands& stands, WorldTime now) {
    const auto fresh = fresh_.extract(stands.name);
    if (fresh.empty()) {
      return;
    }
    for (const StoreGranted& granted : fresh.mapped()) {
      Fence lowest = granted.fence;
      for (const StoreStands::Place& holder : stands.holders) {
        if (!holder.released) {
          lowest = std::min(lowest, holder.fence);
        }
      }
      if (granted.floor != lowest) {
        object(now, "the floor of " + short_text(granted.owner) + " in " + granted.name + " is " +
                        std::to_string(to_int(granted.floor)) + ", and not the lowest fence " +
                        std::to_string(to_int(lowest)));
      }
    }
  }

  void trust(const Trusts& trusts, WorldTime now) {
    const auto& grants = floors_[trusts.owner];
    const bool given = std::ranges::any_of(grants, [&](const StoreGranted& granted) {
      return granted.fence == trusts.fence && granted.floor == trusts.floor;
    });
    if (!given) {
      object(now, short_text(trusts.owner) + " has a floor that the store did not give it");
    }
  }

  std::map<OwnerId, std::vector<StoreGranted>> floors_{};
  std::map<std::string, std::vector<StoreGranted>> fresh_{};
};

}  // namespace

std::unique_ptr<Checker> make_floor_checker() { return std::make_unique<Floors>(); }

}  // namespace holdfast::sim

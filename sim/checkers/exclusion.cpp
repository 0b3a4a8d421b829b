// No two trusted holders of one name at one instant, unless both are readers or both have permits
// of one limit: never a writer beside a reader. A lease is trusted from its grant to the end of its
// trust window, a loss, a release or a crash, in true time; being paused does not end it. Where the
// store itself forgot a lease (StoreForgot) no client can keep the promise: such overlaps are
// counted. That is what fences and guards are for.
#include "sim/checkers/checkers.hpp"
#include "sim/checkers/trusted_holders.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::sim {

namespace {

class Exclusion final : public Checker {
 public:
  Exclusion() : Checker("exclusion") {}

  void hear(const Fact& fact, WorldTime now) override {
    holders_.hear(fact);
    if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      judge(*trusts, now);
    }
  }

 private:
  void judge(const Trusts& mine, WorldTime now) {
    for (const auto& [owner, other] : holders_.of(mine.name)) {
      if (owner == mine.owner || other.until <= now || mine.until <= now ||
          may_be_beside(mine.use, other.use)) {
        continue;
      }
      if (holders_.forgotten(owner) || holders_.forgotten(mine.owner)) {
        if (counted_.insert(std::minmax(owner, mine.owner)).second) {
          count("overlaps after the store forgot a lease");
        }
      } else {
        object(now,
               short_text(mine.owner) + " and " + short_text(owner) + " both trust " + mine.name);
      }
    }
  }

  TrustedHolders holders_{};
  std::set<std::pair<OwnerId, OwnerId>> counted_{};
};

}  // namespace

std::unique_ptr<Checker> make_exclusion_checker() { return std::make_unique<Exclusion>(); }

}  // namespace holdfast::sim

// No guard admits a stale fence, and none refuses one that is not: a fence is stale if it is below
// the floor of somebody whose write was admitted. So nobody is refused who is still trusted:
// readers and holders of permits pass one another. (Unless the store forgot the lease, or its
// fences.) Without a guard stale writes land: they are counted, because that is the difference
// which a guard makes.
#include "sim/checkers/checkers.hpp"

#include <algorithm>
#include <set>

namespace holdfast::sim {

namespace {

class Guard final : public Checker {
 public:
  Guard() : Checker("guard") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* wrote = std::get_if<Wrote>(&fact)) {
      write(*wrote, now);
    } else if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      trusted_[trusts->owner] = trusts->until;
    } else if (const auto* ended = std::get_if<Ended>(&fact)) {
      trusted_.erase(ended->owner);
    } else if (const auto* forgot = std::get_if<StoreForgot>(&fact)) {
      forgotten_.insert(forgot->owners.begin(), forgot->owners.end());
      fences_forgotten_ = fences_forgotten_ || forgot->fences;
    } else if (std::holds_alternative<StoreDeposed>(fact)) {
      fences_forgotten_ = true;  // its clock may be ahead, and so are its fences
    }
  }

 private:
  void write(const Wrote& wrote, WorldTime now) {
    Fence& mark = marks_[wrote.resource];
    const bool stale = wrote.fence < mark;
    if (!wrote.guarded) {
      if (stale && wrote.landed) {
        count("stale writes that landed without a guard");
      }
    } else if (stale && wrote.landed) {
      object(now, "the guard of " + wrote.resource + " admitted fence " +
                      std::to_string(to_int(wrote.fence)) + " after " +
                      std::to_string(to_int(mark)));
    } else if (stale) {
      count("stale writes refused by a guard");
      judge_refusal(wrote, now);
    } else if (!wrote.landed) {
      object(now, "the guard of " + wrote.resource + " refused a fence that is not stale");
    }
    if (wrote.landed) {
      mark = std::max(mark, wrote.floor == Fence::none ? wrote.fence : wrote.floor);
    }
  }

  void judge_refusal(const Wrote& wrote, WorldTime now) {
    const auto trust = trusted_.find(wrote.owner);
    if (trust != trusted_.end() && now < trust->second && !fences_forgotten_ &&
        !forgotten_.contains(wrote.owner)) {
      object(now, "the guard of " + wrote.resource + " refused " + short_text(wrote.owner) +
                      ", who still holds the lock");
    }
  }

  std::map<std::string, Fence> marks_{};
  std::map<OwnerId, WorldTime> trusted_{};
  std::set<OwnerId> forgotten_{};
  bool fences_forgotten_ = false;
};

}  // namespace

std::unique_ptr<Checker> make_guard_checker() { return std::make_unique<Guard>(); }

}  // namespace holdfast::sim

// No guard admits a stale fence, and none refuses a fresh one. Without a guard stale writes land:
// they are counted, because that is the difference which a guard makes.
#include "sim/checkers/checkers.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

class Guard final : public Checker {
 public:
  Guard() : Checker("guard") {}

  void hear(const Fact& fact, WorldTime now) override {
    const auto* wrote = std::get_if<Wrote>(&fact);
    if (wrote == nullptr) {
      return;
    }
    Fence& greatest = greatest_[wrote->resource];
    const bool stale = wrote->fence < greatest;
    if (!wrote->guarded) {
      if (stale && wrote->landed) {
        count("stale writes that landed without a guard");
      }
    } else if (stale && wrote->landed) {
      object(now, "the guard of " + wrote->resource + " admitted fence " +
                      std::to_string(to_int(wrote->fence)) + " after " +
                      std::to_string(to_int(greatest)));
    } else if (stale) {
      count("stale writes refused by a guard");
    } else if (!wrote->landed) {
      object(now, "the guard of " + wrote->resource + " refused a fence that is not stale");
    }
    if (wrote->landed) {
      greatest = std::max(greatest, wrote->fence);
    }
  }

 private:
  std::map<std::string, Fence> greatest_{};
};

}  // namespace

std::unique_ptr<Checker> make_guard_checker() { return std::make_unique<Guard>(); }

}  // namespace holdfast::sim

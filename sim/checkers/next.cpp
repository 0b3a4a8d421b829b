// Whoever is next is let in by the step that makes room: no step that serves a queue leaves a head
// of it waiting that could be beside the holders. So readers, or permits, that stand next to each
// other enter together.
#include "sim/checkers/checkers.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

bool has_room(const StoreStands& stands, const StoreStands::Place& next) {
  std::uint64_t taken = next.use.permits;
  for (const StoreStands::Place& holder : stands.holders) {
    if (holder.owner == next.owner || !may_be_beside(holder.use, next.use)) {
      return false;
    }
    taken += holder.use.permits;
  }
  return next.use.limit == 0 || taken <= next.use.limit;
}

class Next final : public Checker {
 public:
  Next() : Checker("next") {}

  void hear(const Fact& fact, WorldTime now) override {
    const auto* stands = std::get_if<StoreStands>(&fact);
    if (stands != nullptr && stands->next && has_room(*stands, *stands->next)) {
      object(now, short_text(stands->next->owner) + " waits for " + stands->name +
                      " although there is room");
    }
  }
};

}  // namespace

std::unique_ptr<Checker> make_next_checker() { return std::make_unique<Next>(); }

}  // namespace holdfast::sim

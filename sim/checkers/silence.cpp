// Nothing is renewed after its lease ended, and an owner that withdrew never asks again.
#include "sim/checkers/checkers.hpp"

#include <set>

namespace holdfast::sim {

namespace {

class Silence final : public Checker {
 public:
  Silence() : Checker("silence") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* ended = std::get_if<Ended>(&fact)) {
      ended_.insert(ended->owner);
    } else if (const auto* asked = std::get_if<Asked>(&fact)) {
      ask(*asked, now);
    }
  }

 private:
  void ask(const Asked& asked, WorldTime now) {
    if (asked.verb == Verb::withdraw) {
      withdrew_.insert(asked.owner);
      return;
    }
    if (withdrew_.contains(asked.owner)) {
      object(now, short_text(asked.owner) + " asked for " + asked.name + " after it withdrew");
    } else if (ended_.contains(asked.owner)) {
      object(now, short_text(asked.owner) + " asked for " + asked.name + " after its lease ended");
    }
  }

  std::set<OwnerId> withdrew_{};
  std::set<OwnerId> ended_{};
};

}  // namespace

std::unique_ptr<Checker> make_silence_checker() { return std::make_unique<Silence>(); }

}  // namespace holdfast::sim

// What a record says of its holder is what that holder last proclaimed: once the store has
// confirmed a value, nobody sees an older one of that owner. (Unless the store forgot.) A
// proclamation that was not answered may be executed late, after a newer one, and nothing can be
// done about it: counted.
#include "sim/checkers/checkers.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::sim {

namespace {

class Values final : public Checker {
 public:
  Values() : Checker("values") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* asked = std::get_if<Asked>(&fact)) {
      ask(*asked);
    } else if (const auto* proclaimed = std::get_if<Proclaimed>(&fact)) {
      Said& said = said_[proclaimed->owner];
      said.confirmed = std::max(said.confirmed, place_of(said, proclaimed->value));
      --said.unanswered[proclaimed->value];
    } else if (const auto* has = std::get_if<StoreHas>(&fact)) {
      look(*has, now);
    } else if (const auto* split = std::get_if<StoreDeposed>(&fact)) {
      split_.insert(split->owners.begin(), split->owners.end());
    } else if (const auto* forgot = std::get_if<StoreForgot>(&fact)) {
      split_.insert(forgot->owners.begin(), forgot->owners.end());
      if (forgot->state_replaced) {
        for (auto& [owner, said] : said_) {
          said.confirmed = 0;
        }
      }
    }
  }

 private:
  struct Said {
    std::vector<std::string> values{};  // in the order in which they were asked for
    std::size_t confirmed = 0;          // how many of them are older than what must be seen
    std::map<std::string, int> unanswered{};
    bool counted = false;
  };

  static std::size_t place_of(const Said& said, const std::string& value) {
    const auto found = std::ranges::find(said.values, value);
    return static_cast<std::size_t>(found - said.values.begin());
  }

  void ask(const Asked& asked) {
    if (asked.value.empty() ||
        (asked.verb != Verb::amend && asked.verb != Verb::queue && asked.verb != Verb::acquire)) {
      return;
    }
    Said& said = said_[asked.owner];
    if (place_of(said, asked.value) == said.values.size()) {
      said.values.push_back(asked.value);
    }
    said.unanswered[asked.value] += asked.verb == Verb::amend ? 1 : 0;
  }

  void look(const StoreHas& has, WorldTime now) {
    const auto found = said_.find(has.owner);
    if (has.waits || found == said_.end() || split_.contains(has.owner)) {
      return;
    }
    Said& said = found->second;
    const std::size_t place = place_of(said, has.value);
    if (place == said.values.size()) {
      object(now, "the record of " + short_text(has.owner) + " in " + has.name + " says " +
                      has.value + ", which its owner never said");
    } else if (place < said.confirmed && said.unanswered[has.value] > 0) {
      if (!std::exchange(said.counted, true)) {
        count("old values that were proclaimed late");
      }
    } else if (place < said.confirmed) {
      object(now, "the record of " + short_text(has.owner) + " in " + has.name + " says " +
                      has.value + " again, which was over");
    }
  }

  std::map<OwnerId, Said> said_{};
  std::set<OwnerId> split_{};  // what a primary that counts no more did for them
};

}  // namespace

std::unique_ptr<Checker> make_value_checker() { return std::make_unique<Values>(); }

}  // namespace holdfast::sim

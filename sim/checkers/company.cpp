// In the store itself, after each step: whoever has a record of a name may be beside all others who
// have one. A writer is alone, permits are within the one limit, nobody is there twice. Stronger
// than the checkers of trust, because it needs no holder that looks at the right moment.
#include "sim/checkers/checkers.hpp"

namespace holdfast::sim {

namespace {

class Company final : public Checker {
 public:
  Company() : Checker("company") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* stands = std::get_if<StoreStands>(&fact)) {
      judge(*stands, now);
    }
  }

 private:
  void judge(const StoreStands& stands, WorldTime now) {
    std::uint64_t taken = 0;
    for (std::size_t i = 0; i < stands.holders.size(); ++i) {
      const StoreStands::Place& one = stands.holders[i];
      taken += one.use.permits;
      for (std::size_t j = 0; j < i; ++j) {
        const StoreStands::Place& other = stands.holders[j];
        if (other.owner == one.owner) {
          object(now, short_text(one.owner) + " holds " + stands.name + " twice");
        } else if (!may_be_beside(one.use, other.use)) {
          object(now, short_text(one.owner) + " and " + short_text(other.owner) +
                          " are both in the store for " + stands.name);
        }
      }
    }
    if (!stands.holders.empty()) {
      const std::uint32_t limit = stands.holders.front().use.limit;
      if (limit != 0 && taken > limit) {
        object(now, std::to_string(taken) + " permits of " + stands.name +
                        " are in the store, of " + std::to_string(limit));
      }
    }
  }
};

}  // namespace

std::unique_ptr<Checker> make_company_checker() { return std::make_unique<Company>(); }

}  // namespace holdfast::sim

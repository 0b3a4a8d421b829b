// Trusted permits of one name are never more than its limit, at any instant and in true time.
// Leases that the store forgot are not counted against it: where they make it too many, that is
// counted.
#include "sim/checkers/checkers.hpp"
#include "sim/checkers/trusted_holders.hpp"

#include <set>

namespace holdfast::sim {

namespace {

class Permits final : public Checker {
 public:
  Permits() : Checker("permits") {}

  void hear(const Fact& fact, WorldTime now) override {
    holders_.hear(fact);
    if (const auto* trusts = std::get_if<Trusts>(&fact);
        trusts != nullptr && trusts->use.limit != 0) {
      judge(*trusts, now);
    }
  }

 private:
  void judge(const Trusts& latest, WorldTime now) {
    std::uint64_t taken = 0;
    std::uint64_t with_forgotten = 0;
    for (const auto& [owner, holder] : holders_.of(latest.name)) {
      if (holder.until <= now || holder.use.limit == 0) {
        continue;
      }
      with_forgotten += holder.use.permits;
      taken += holders_.forgotten(owner) ? 0 : holder.use.permits;
    }
    if (taken > latest.use.limit) {
      object(now, std::to_string(taken) + " permits of " + latest.name + " are out, of " +
                      std::to_string(latest.use.limit));
    } else if (with_forgotten > latest.use.limit && counted_.insert(latest.owner).second) {
      count("permits above the limit after the store forgot a lease");
    }
  }

  TrustedHolders holders_{};
  std::set<OwnerId> counted_{};
};

}  // namespace

std::unique_ptr<Checker> make_permit_checker() { return std::make_unique<Permits>(); }

}  // namespace holdfast::sim

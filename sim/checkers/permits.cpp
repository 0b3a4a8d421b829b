// Trusted permits of one name are never more than its limit, at any instant and in true time.
// Leases that the store forgot are not counted against it: where they make it too many, that is
// counted.
#include "sim/checkers/checkers.hpp"

#include <set>

namespace holdfast::sim {

namespace {

class Permits final : public Checker {
 public:
  Permits() : Checker("permits") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      if (trusts->use.limit != 0) {
        names_[trusts->name][trusts->owner] = *trusts;
        judge(*trusts, now);
      }
    } else if (const auto* ended = std::get_if<Ended>(&fact)) {
      if (const auto name = names_.find(ended->name); name != names_.end()) {
        name->second.erase(ended->owner);
      }
    } else if (const auto* crashed = std::get_if<Crashed>(&fact)) {
      for (auto& [name, holders] : names_) {
        std::erase_if(holders, [&](const auto& h) { return h.second.node == crashed->node; });
      }
    } else if (const auto* forgot = std::get_if<StoreForgot>(&fact)) {
      forgotten_.insert(forgot->owners.begin(), forgot->owners.end());
    }
  }

 private:
  void judge(const Trusts& latest, WorldTime now) {
    std::uint64_t taken = 0;
    std::uint64_t with_forgotten = 0;
    for (const auto& [owner, holder] : names_[latest.name]) {
      if (holder.until <= now) {
        continue;
      }
      with_forgotten += holder.use.permits;
      taken += forgotten_.contains(owner) ? 0 : holder.use.permits;
    }
    if (taken > latest.use.limit) {
      object(now, std::to_string(taken) + " permits of " + latest.name + " are out, of " +
                      std::to_string(latest.use.limit));
    } else if (with_forgotten > latest.use.limit && counted_.insert(latest.owner).second) {
      count("permits above the limit after the store forgot a lease");
    }
  }

  std::map<std::string, std::map<OwnerId, Trusts>> names_{};
  std::set<OwnerId> forgotten_{};
  std::set<OwnerId> counted_{};
};

}  // namespace

std::unique_ptr<Checker> make_permit_checker() { return std::make_unique<Permits>(); }

}  // namespace holdfast::sim

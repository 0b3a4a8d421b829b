// Who trusts a lease of which name, in true time: from its grant to a loss, a release or a crash.
// The end of a trust window is for the checker to look at.
#pragma once

#include "sim/fact.hpp"

#include <map>
#include <set>
#include <string>

namespace holdfast::sim {

class TrustedHolders {
 public:
  using Holders = std::map<OwnerId, Trusts>;

  void hear(const Fact& fact) {
    if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      names_[trusts->name][trusts->owner] = *trusts;
    } else if (const auto* ended = std::get_if<Ended>(&fact)) {
      names_[ended->name].erase(ended->owner);
    } else if (const auto* crashed = std::get_if<Crashed>(&fact)) {
      for (auto& [name, holders] : names_) {
        std::erase_if(holders, [&](const auto& h) { return h.second.node == crashed->node; });
      }
    } else if (const auto* forgot = std::get_if<StoreForgot>(&fact)) {
      forgotten_.insert(forgot->owners.begin(), forgot->owners.end());
    } else if (const auto* split = std::get_if<StoreDeposed>(&fact)) {
      forgotten_.insert(split->owners.begin(), split->owners.end());
    }
  }

  const Holders& of(const std::string& name) { return names_[name]; }
  // Whose lease the store lost, or a deposed primary gave: no client can keep a promise about it.
  bool forgotten(const OwnerId& owner) const { return forgotten_.contains(owner); }

 private:
  std::map<std::string, Holders> names_{};
  std::set<OwnerId> forgotten_{};
};

}  // namespace holdfast::sim

#include "sim/history.hpp"

#include <algorithm>

namespace holdfast::sim {

void History::record(const Fact& fact, std::size_t reign) {
  world_.note(reign < reign_ ? text(fact) + " [deposed]" : text(fact));
  for (const auto& checker : checkers_) {
    const std::size_t before = checker->violations().size();
    checker->heed(reign, reign_);
    checker->hear(fact, world_.now());
    for (std::size_t i = before; i < checker->violations().size(); ++i) {
      world_.note("VIOLATION of " + checker->name() + ": " + checker->violations()[i].what);
    }
  }
}

std::vector<Violation> History::violations() const {
  std::vector<Violation> all;
  for (const auto& checker : checkers_) {
    all.insert(all.end(), checker->violations().begin(), checker->violations().end());
  }
  std::ranges::stable_sort(all, {}, &Violation::at);
  return all;
}

std::map<std::string, std::uint64_t> History::counts() const {
  std::map<std::string, std::uint64_t> all = counts_;
  for (const auto& checker : checkers_) {
    for (const auto& [what, times] : checker->counts()) {
      all[what] += times;
    }
  }
  return all;
}

bool History::objected() const {
  return std::ranges::any_of(checkers_, [](const auto& c) { return !c->violations().empty(); });
}

}  // namespace holdfast::sim

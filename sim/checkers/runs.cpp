// A run is done once. It is marked in the same step as the release by its holder, who has completed
// it, at most once, and not without the other. While the mark stands nobody is granted that run and
// nobody trusts a lease for it; nobody hears that a run is done that never was. A store that lost
// its state has lost its marks too.
#include "sim/checkers/checkers.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace holdfast::sim {

namespace {

class Runs final : public Checker {
 public:
  Runs() : Checker("runs") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (deposed() && is_of_store(fact)) {
      if (const auto* marked = std::get_if<StoreMarked>(&fact)) {
        ever_marked_.insert({marked->name, marked->run});  // it told whoever asked it
      }
      return;
    }
    if (const auto owner = std::exchange(to_be_marked_, std::nullopt);
        owner && !std::holds_alternative<StoreMarked>(fact)) {
      object(now, short_text(*owner) + " has completed its run and released it without a mark");
    }
    std::visit([&](const auto& f) { on(f, now); }, fact);
  }

 private:
  using Run = std::pair<std::string, std::string>;  // name, run id

  static bool is_of_store(const Fact& fact) {
    return std::holds_alternative<StoreWithdrew>(fact) ||
           std::holds_alternative<StoreMarked>(fact) || std::holds_alternative<StoreGranted>(fact);
  }

  template <class Other>
  void on(const Other& /*fact*/, WorldTime /*now*/) {}

  void on(const StoreDeposed& f, WorldTime /*now*/) {
    forgotten_.insert(f.owners.begin(), f.owners.end());
  }

  void on(const Wanted& f, WorldTime /*now*/) {
    if (!f.use.run.empty()) {
      wanted_[f.attempt] = {f.name, f.use.run};
    }
  }
  void on(const Refused& f, WorldTime now) {
    const auto wanted = wanted_.extract(f.attempt);
    if (f.code == errc::already_done &&
        (wanted.empty() || !ever_marked_.contains(wanted.mapped()))) {
      object(now, "wait a" + std::to_string(f.attempt) + " for " + f.name +
                      " was told of a run that is not done");
    }
  }
  void on(const Ran& f, WorldTime /*now*/) {
    if (f.step == RunStep::completed) {
      completed_.insert(f.owner);
    }
  }
  void on(const StoreWithdrew& f, WorldTime /*now*/) {
    released_ = std::ranges::find(f.ended, f.owner) != f.ended.end() ? f.owner : OwnerId{};
    if (released_ == f.owner && completed_.contains(f.owner)) {
      to_be_marked_ = f.owner;
    }
  }
  void on(const StoreMarked& f, WorldTime now) {
    const Run run{f.name, f.run};
    const std::string what = "run " + f.run + " of " + f.name;
    if (const Mark* mark = standing(run, f.at)) {
      object(now, what + " was marked done by " + short_text(f.owner) + " after " +
                      short_text(mark->owner));
    }
    const auto newest = newest_.find(run);
    if (released_ != f.owner || (newest != newest_.end() && newest->second != f.owner)) {
      object(now, what + " was marked done by " + short_text(f.owner) + ", who did not release it");
    }
    if (!completed_.contains(f.owner)) {
      object(now, what + " was marked done, but " + short_text(f.owner) + " had not completed it");
    }
    marks_[run] = {f.owner, f.at, f.until};
    ever_marked_.insert(run);
  }
  void on(const StoreGranted& f, WorldTime now) {
    if (f.use.run.empty()) {
      return;
    }
    const Run run{f.name, f.use.run};
    newest_[run] = f.owner;
    if (standing(run, f.at) != nullptr) {
      object(now, short_text(f.owner) + " was granted run " + f.use.run + " of " + f.name +
                      ", which is done");
    }
    granted_at_[f.owner] = f.at;
  }
  // Granted before the mark, and still trusted: so two were at it.
  void on(const Trusts& f, WorldTime now) {
    const auto mark = marks_.find({f.name, f.use.run});
    if (f.use.run.empty() || mark == marks_.end() || mark->second.owner == f.owner ||
        f.until <= now || forgotten_.contains(f.owner)) {
      return;
    }
    if (granted_at_[f.owner] <= mark->second.at) {
      object(now, short_text(f.owner) + " trusts " + f.name + " for run " + f.use.run +
                      ", which another has done meanwhile");
    }
  }
  void on(const StoreForgot& f, WorldTime /*now*/) {
    forgotten_.insert(f.owners.begin(), f.owners.end());
    for (auto mark = marks_.begin(); mark != marks_.end();) {
      // By a clock that is set back, a mark that ended does not go on.
      mark = mark->second.until <= f.at ? marks_.erase(mark) : std::next(mark);
    }
    if (f.state_replaced) {
      marks_.clear();
      newest_.clear();
    }
  }

  struct Mark {
    OwnerId owner{};
    Instant at{};
    Instant until{};
  };
  const Mark* standing(const Run& run, Instant at) const {
    const auto mark = marks_.find(run);
    return mark != marks_.end() && at < mark->second.until ? &mark->second : nullptr;
  }

  std::map<AttemptId, Run> wanted_{};
  std::map<Run, Mark> marks_{};
  std::map<Run, OwnerId> newest_{};  // whom the run was granted to last
  std::map<OwnerId, Instant> granted_at_{};
  std::set<Run> ever_marked_{};
  std::set<OwnerId> completed_{};
  std::set<OwnerId> forgotten_{};
  std::optional<OwnerId> to_be_marked_{};  // by the next fact
  OwnerId released_{};  // by the latest withdraw, if it released a record of its owner
};

}  // namespace

std::unique_ptr<Checker> make_run_checker() { return std::make_unique<Runs>(); }

}  // namespace holdfast::sim

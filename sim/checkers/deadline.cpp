// A wait is answered by its deadline, and soon after it is cancelled, whatever the store does, give
// or take the lateness of timers. A paused node answers when it runs again.
#include "sim/checkers/checkers.hpp"

#include <algorithm>
#include <set>

namespace holdfast::sim {

namespace {

class Deadline final : public Checker {
 public:
  explicit Deadline(Duration late) : Checker("deadline"), late_(late) {}

  void hear(const Fact& fact, WorldTime now) override {
    look_for_overdue(now);
    if (const auto* wanted = std::get_if<Wanted>(&fact)) {
      if (wanted->due != WorldTime::max()) {
        open_[wanted->attempt] = {wanted->node, wanted->due + late_};
      } else {
        open_[wanted->attempt] = {wanted->node, wanted->due};
      }
    } else if (const auto* due = std::get_if<Due>(&fact)) {
      if (const auto wait = open_.find(due->attempt); wait != open_.end()) {
        wait->second.due = std::max(due->due, now) + late_;
      }
    } else if (const auto* refused = std::get_if<Refused>(&fact)) {
      open_.erase(refused->attempt);
    } else if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      open_.erase(trusts->attempt);
    } else if (const auto* crashed = std::get_if<Crashed>(&fact)) {
      paused_.erase(crashed->node);
      std::erase_if(open_, [&](const auto& w) { return w.second.node == crashed->node; });
    } else if (const auto* paused = std::get_if<Paused>(&fact)) {
      pause(*paused, now);
    }
  }

 private:
  struct Open {
    NodeId node = 0;
    WorldTime due{};
  };

  void pause(const Paused& paused, WorldTime now) {
    if (paused.on) {
      paused_.insert(paused.node);
      return;
    }
    paused_.erase(paused.node);
    for (auto& [attempt, wait] : open_) {
      if (wait.node == paused.node) {
        wait.due = std::max(wait.due, now + late_);
      }
    }
  }

  void look_for_overdue(WorldTime now) {
    for (auto wait = open_.begin(); wait != open_.end();) {
      if (now <= wait->second.due || paused_.contains(wait->second.node)) {
        ++wait;
        continue;
      }
      object(now, "wait a" + std::to_string(wait->first) + " was not answered by its deadline");
      wait = open_.erase(wait);
    }
  }

  Duration late_;
  std::map<AttemptId, Open> open_{};
  std::set<NodeId> paused_{};
};

}  // namespace

std::unique_ptr<Checker> make_deadline_checker(Duration late) {
  return std::make_unique<Deadline>(late);
}

}  // namespace holdfast::sim

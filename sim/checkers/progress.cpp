// Every waiter is served after healing: at the end no wait is open, and a wait for ever never ended
// in anything but a lease, a run that is done, or a limit that is not the others'. Nor does the
// world stand still.
#include "sim/checkers/checkers.hpp"

#include <holdfast/error.hpp>

namespace holdfast::sim {

namespace {

class Progress final : public Checker {
 public:
  Progress() : Checker("progress") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* wanted = std::get_if<Wanted>(&fact)) {
      open_[wanted->attempt] = *wanted;
    } else if (const auto* due = std::get_if<Due>(&fact)) {
      if (const auto wait = open_.find(due->attempt); wait != open_.end()) {
        wait->second.due = due->due;
      }
    } else if (const auto* refused = std::get_if<Refused>(&fact)) {
      refuse(*refused, now);
    } else if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      open_.erase(trusts->attempt);
    } else if (const auto* crashed = std::get_if<Crashed>(&fact)) {
      std::erase_if(open_, [&](const auto& w) { return w.second.node == crashed->node; });
    } else if (std::holds_alternative<Stuck>(fact)) {
      object(now, "callbacks go round in circles while no time passes");
    } else if (std::holds_alternative<Finished>(fact)) {
      for (const auto& [attempt, wait] : open_) {
        object(now, "wait a" + std::to_string(attempt) + " for " + wait.name + " was never served");
      }
    }
  }

 private:
  void refuse(const Refused& refused, WorldTime now) {
    const auto wait = open_.find(refused.attempt);
    if (wait == open_.end()) {
      object(now, "wait a" + std::to_string(refused.attempt) + " ended twice");
      return;
    }
    const bool final = refused.code == errc::already_done || refused.code == errc::invalid_options;
    if (wait->second.due == WorldTime::max() && !final) {
      object(now, "wait a" + std::to_string(refused.attempt) +
                      " for ever ended: " + refused.code.message());
    }
    open_.erase(wait);
  }

  std::map<AttemptId, Wanted> open_{};
};

}  // namespace

std::unique_ptr<Checker> make_progress_checker() { return std::make_unique<Progress>(); }

}  // namespace holdfast::sim

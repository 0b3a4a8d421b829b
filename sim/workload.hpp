// What the nodes of a world do all day: tasks that lock a name, write under the lock, and unlock,
// with options, waits and endings drawn from the seed.
#pragma once

#include "sim/locker.hpp"
#include "sim/options.hpp"

#include <memory>
#include <vector>

namespace holdfast::sim {

class Tasks {
 public:
  Tasks(Surroundings& around, const Options& options, Locker& locker, bool winding_down);

  // Faults are over: each task ends what it does, locks every name once more, for ever if need be,
  // and stops.
  void wind_down();
  void stop();  // at once and for good
  bool done() const;

 private:
  struct Task {
    std::uint64_t turn = 0;          // timers of earlier turns have no say
    std::size_t finals = 0;          // names that were locked since winding down
    AttemptId attempt = 0;           // the wait that is on, or 0
    const NamePlan* plan = nullptr;  // of the name that is wanted or held
    LeasePtr lease{};
    std::vector<LeasePtr> others{};  // that were taken together with it
    bool writing = false;            // a write is being prepared or was not answered yet
  };

  void think(Task& task);
  void want(Task& task);
  LockerWait draw_wait(const NamePlan& plan);
  Use draw_use(const NamePlan& plan);
  LockerWait final_wait(const Task& task, const NamePlan& plan);
  LeaseOptions draw_lease_options();
  void wait(Task& task, const LockerWait& wait, Duration hold_max);
  // Names that can be taken together, in any order; fewer than two: none can.
  std::vector<const NamePlan*> draw_group();
  void wait_for_all(Task& task, const std::vector<const NamePlan*>& plans);
  void cancel_later(Task& task);
  void answer(Task& task, LeasePtr lease, std::error_code code, Duration hold_max);
  void work(Task& task, Duration hold_max);
  void write_later(Task& task);
  void write(Task& task);
  void proclaim_later(Task& task);
  std::string next_value();
  void end(Task& task);
  void release(const Task& task, bool on_lane);
  void end_run(Task& task, bool on_lane);
  void lost(const LeasePtr& lease);
  // Runs `event` after `delay` on the node's clock if the task's turn is still the same.
  void later(Task& task, Duration delay, std::function<void()> event);

  Surroundings& around_;
  const Options& options_;
  Locker& locker_;
  bool winding_down_;
  bool stopped_ = false;
  std::uint64_t values_ = 0;
  std::vector<Task> tasks_;
};

}  // namespace holdfast::sim

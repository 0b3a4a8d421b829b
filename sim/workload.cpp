#include "sim/workload.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;

constexpr Duration answer_max = milliseconds{2000};  // a database that is silent for longer
constexpr Duration final_hold_max = milliseconds{50};

std::string name_of(std::size_t index) { return "lock" + std::to_string(index); }

}  // namespace

Tasks::Tasks(Surroundings& around, const Options& options, Locker& locker, bool winding_down)
    : around_(around),
      options_(options),
      locker_(locker),
      winding_down_(winding_down),
      tasks_(options.work.tasks) {
  locker_.when_lost([this](const LeasePtr& lease) { lost(lease); });
  for (Task& task : tasks_) {
    think(task);
  }
}

void Tasks::later(Task& task, Duration delay, std::function<void()> event) {
  SimRuntime& runtime = locker_.runtime();
  runtime.call_at(runtime.now() + delay, [&task, turn = task.turn, event = std::move(event)] {
    if (task.turn == turn) {
      event();
    }
  });
}

void Tasks::think(Task& task) {
  ++task.turn;
  task.lease.reset();
  task.writing = false;
  task.attempt = 0;
  const Duration most = winding_down_ ? Duration{milliseconds{10}} : options_.work.think_max;
  later(task, around_.world.random().mostly_short(Duration{0}, most),
        [this, &task] { want(task); });
}

void Tasks::want(Task& task) {
  if (!winding_down_) {
    wait(task, draw_wait(), options_.work.hold_max);
  } else if (task.finals < options_.work.names) {
    LockerWait last;
    last.name = name_of(task.finals++);
    last.options.ttl = options_.work.ttl_max;
    wait(task, last, final_hold_max);
  }
}

LeaseOptions Tasks::draw_lease_options() {
  Random& random = around_.world.random();
  const Workload& work = options_.work;
  LeaseOptions lease;
  lease.ttl = random.between(work.ttl_min, work.ttl_max);
  lease.renew = !random.chance(work.fixed);
  if (random.chance(work.min_hold)) {
    lease.min_hold = random.between(Duration{milliseconds{10}}, lease.ttl);
  }
  if (random.chance(work.max_hold)) {
    lease.max_hold = random.between(lease.ttl, lease.ttl * 4);
  }
  if (random.chance(work.lock_delay)) {
    lease.lock_delay = random.between(Duration{milliseconds{10}}, Duration{milliseconds{2000}});
  }
  return lease;
}

LockerWait Tasks::draw_wait() {
  Random& random = around_.world.random();
  const Workload& work = options_.work;
  LockerWait wait;
  wait.name = name_of(static_cast<std::size_t>(random.below(work.names)));
  wait.options = draw_lease_options();
  wait.lane_first = random.chance(work.lane_first);
  if (random.chance(work.one_attempt)) {
    wait.timeout = Duration{0};
  } else if (!random.chance(work.for_ever)) {
    wait.timeout = random.between(Duration{milliseconds{1}}, work.wait_max);
  }
  return wait;
}

void Tasks::wait(Task& task, const LockerWait& wait, Duration hold_max) {
  Random& random = around_.world.random();
  task.attempt = locker_.acquire(wait, [this, &task, hold_max](LeasePtr lease, std::error_code) {
    ++task.turn;
    task.attempt = 0;
    if (lease) {
      task.lease = std::move(lease);
      work(task, hold_max);
    } else {
      think(task);
    }
  });
  if (!winding_down_ && random.chance(options_.work.cancelled)) {
    later(task, random.between(Duration{0}, options_.work.wait_max),
          [this, &task] { locker_.cancel(task.attempt); });
  }
}

void Tasks::work(Task& task, Duration hold_max) {
  if (task.lease->phase.load() != detail::LeasePhase::held) {
    think(task);  // lost before it was here
    return;
  }
  Random& random = around_.world.random();
  const Duration hold = random.chance(300) ? random.between(Duration{0}, hold_max)
                                           : random.mostly_short(Duration{0}, hold_max);
  later(task, winding_down_ ? std::min(hold, final_hold_max) : hold, [this, &task] { end(task); });
  write_later(task);
}

// A write is prepared, the lease looked at, and the write sent: between the last two the node may
// be paused for any time, and that is what a guard is for.
void Tasks::write_later(Task& task) {
  Random& random = around_.world.random();
  later(task, random.mostly_short(Duration{0}, options_.work.hold_max / 4), [this, &task] {
    if (!task.writing && locker_.valid(task.lease)) {
      write(task);
    }
    write_later(task);
  });
}

void Tasks::write(Task& task) {
  task.writing = true;
  SimRuntime& runtime = locker_.runtime();
  const Duration gap = around_.world.random().mostly_short(Duration{0}, milliseconds{50});
  runtime.call_at(runtime.now() + gap, [this, lease = task.lease, &task, turn = task.turn] {
    const auto done = [&task, turn] {
      if (task.turn == turn) {
        task.writing = false;
      }
    };
    if (stopped_) {
      return;
    }
    locker_.write(lease, done);
    locker_.runtime().call_at(locker_.runtime().now() + answer_max, done);
  });
}

void Tasks::end(Task& task) {
  if (task.writing && task.lease->phase.load() == detail::LeasePhase::held) {
    later(task, milliseconds{20}, [this, &task] { end(task); });  // not with a write under way
    return;
  }
  Random& random = around_.world.random();
  if (!winding_down_ && random.chance(options_.work.abandoned)) {
    locker_.abandon(task.lease);
  } else {
    locker_.release(task.lease, random.chance(options_.work.lane_first));
  }
  think(task);
}

void Tasks::lost(const LeasePtr& lease) {
  const auto task = std::ranges::find(tasks_, lease, &Task::lease);
  if (task != tasks_.end()) {
    // User code hears of it off the loop, then destroys its lease, which asks for a release.
    later(*task, Duration{0}, [this, lease, &task = *task] {
      locker_.release(lease, true);
      think(task);
    });
  }
}

void Tasks::wind_down() {
  winding_down_ = true;
  for (Task& task : tasks_) {
    if (task.lease) {
      // Long enough to see that what was held through the faults is not lost after them.
      const Duration most = options_.work.ttl_max + options_.work.ttl_max / 2;
      later(task, around_.world.random().between(Duration{0}, most), [this, &task] { end(task); });
    } else if (task.attempt == 0) {
      think(task);
    }
  }
}

void Tasks::stop() {
  stopped_ = true;
  for (Task& task : tasks_) {
    ++task.turn;
  }
}

bool Tasks::done() const {
  return winding_down_ && locker_.idle() && std::ranges::all_of(tasks_, [&](const Task& task) {
           return task.attempt == 0 && !task.lease && task.finals == options_.work.names;
         });
}

}  // namespace holdfast::sim

#include "sim/workload.hpp"

#include <holdfast/error.hpp>

#include <algorithm>

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;

constexpr Duration answer_max = milliseconds{2000};  // a database that is silent for longer
constexpr Duration final_hold_max = milliseconds{50};
constexpr Duration final_memory = std::chrono::hours{1};  // of the last run

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
  task.others.clear();
  task.writing = false;
  task.attempt = 0;
  const Duration most = winding_down_ ? Duration{milliseconds{10}} : options_.work.think_max;
  later(task, around_.world.random().mostly_short(Duration{0}, most),
        [this, &task] { want(task); });
}

void Tasks::want(Task& task) {
  const std::vector<NamePlan>& names = options_.work.names;
  if (const auto group = draw_group(); group.size() > 1) {
    wait_for_all(task, group);
  } else if (!winding_down_) {
    task.plan = &names[static_cast<std::size_t>(around_.world.random().below(names.size()))];
    wait(task, draw_wait(*task.plan), options_.work.hold_max);
  } else if (task.finals < names.size()) {
    task.plan = &names[task.finals++];
    wait(task, final_wait(task, *task.plan), final_hold_max);
  }
}

LockerWait Tasks::final_wait(const Task& task, const NamePlan& plan) {
  LockerWait last;
  last.name = plan.name;
  last.options.ttl = options_.work.ttl_max;
  const bool odd = (&task - tasks_.data()) % 2 != 0;
  if (plan.purpose == Purpose::permits) {
    last.use = {Mode::shared, odd ? 1 : plan.limit, plan.limit, {}};
  } else if (plan.purpose == Purpose::shared && odd) {
    last.use.mode = Mode::shared;
  } else if (plan.purpose == Purpose::runs) {
    last.use.run = "last";
  } else if (plan.purpose == Purpose::seat) {
    last.value = next_value();
  }
  return last;
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

Use Tasks::draw_use(const NamePlan& plan) {
  Random& random = around_.world.random();
  const Workload& work = options_.work;
  Use use;
  switch (plan.purpose) {
    case Purpose::lock:
    case Purpose::seat:
      break;
    case Purpose::shared:
      use.mode = random.chance(work.readers) ? Mode::shared : Mode::exclusive;
      break;
    case Purpose::permits:
      use.mode = Mode::shared;
      use.limit = plan.limit + (random.chance(work.other_limit) ? 1 : 0);
      use.permits = random.chance(500) ? 1
                                       : static_cast<std::uint32_t>(random.between(
                                             1, static_cast<std::int64_t>(plan.limit)));
      break;
    case Purpose::runs: {
      // The run that is due, or one that others are still at.
      const Duration since = around_.world.now().time_since_epoch();
      const std::int64_t due = since / work.run_every;
      use.run = "r" + std::to_string(std::max<std::int64_t>(due - random.between(0, 2), 0));
      break;
    }
  }
  return use;
}

LockerWait Tasks::draw_wait(const NamePlan& plan) {
  Random& random = around_.world.random();
  const Workload& work = options_.work;
  LockerWait wait;
  wait.name = plan.name;
  wait.use = draw_use(plan);
  wait.value = plan.purpose == Purpose::seat ? next_value() : std::string{};
  wait.options = draw_lease_options();
  wait.lane_first = random.chance(work.lane_first);
  if (random.chance(work.one_attempt)) {
    wait.timeout = Duration{0};
  } else if (!random.chance(work.for_ever)) {
    wait.timeout = random.between(Duration{milliseconds{1}}, work.wait_max);
  }
  return wait;
}

std::string Tasks::next_value() {
  return "n" + std::to_string(locker_.node()) + '.' + std::to_string(++values_);
}

void Tasks::wait(Task& task, const LockerWait& wait, Duration hold_max) {
  task.attempt =
      locker_.acquire(wait, [this, &task, hold_max](LeasePtr lease, std::error_code code) {
        answer(task, std::move(lease), code, hold_max);
      });
  cancel_later(task);
}

std::vector<const NamePlan*> Tasks::draw_group() {
  Random& random = around_.world.random();
  std::vector<const NamePlan*> plans;
  if (winding_down_ || !random.chance(options_.work.together)) {
    return plans;
  }
  for (const NamePlan& plan : options_.work.names) {
    if (plan.purpose == Purpose::lock || plan.purpose == Purpose::shared) {
      const auto place = random.between(0, static_cast<std::int64_t>(plans.size()));
      plans.insert(plans.begin() + place, &plan);
    }
  }
  return plans;
}

void Tasks::wait_for_all(Task& task, const std::vector<const NamePlan*>& plans) {
  const LockerWait like_one = draw_wait(*plans.front());
  LockerGroupWait wait{{}, like_one.options, like_one.timeout, around_.world.random().chance(700)};
  for (const NamePlan* plan : plans) {
    wait.names.push_back(plan->name);
  }
  task.plan = plans.front();
  task.attempt =
      locker_.acquire_all(wait, [this, &task](std::vector<LeasePtr> leases, std::error_code code) {
        LeasePtr first;
        if (!leases.empty()) {
          first = leases.front();
          task.others.assign(leases.begin() + 1, leases.end());
        }
        answer(task, std::move(first), code, options_.work.hold_max);
      });
  cancel_later(task);
}

void Tasks::cancel_later(Task& task) {
  Random& random = around_.world.random();
  if (!winding_down_ && random.chance(options_.work.cancelled)) {
    later(task, random.between(Duration{0}, options_.work.wait_max),
          [this, &task] { locker_.cancel(task.attempt); });
  }
}

void Tasks::answer(Task& task, LeasePtr lease, std::error_code code, Duration hold_max) {
  ++task.turn;
  task.attempt = 0;
  if (lease) {
    task.lease = std::move(lease);
    work(task, hold_max);
    return;
  }
  if (winding_down_ && task.finals > 0 && code == errc::invalid_options) {
    --task.finals;  // somebody who asked for another limit is still about
  }
  think(task);
}

void Tasks::work(Task& task, Duration hold_max) {
  const auto lost = [](const LeasePtr& lease) {
    return lease->phase.load() != detail::LeasePhase::held;
  };
  if (lost(task.lease) || std::ranges::any_of(task.others, lost)) {
    release(task, false);  // before it was here
    think(task);
    return;
  }
  Random& random = around_.world.random();
  const Duration hold = random.chance(300) ? random.between(Duration{0}, hold_max)
                                           : random.mostly_short(Duration{0}, hold_max);
  const bool writes = task.lease->claim.mode == Mode::exclusive;
  const bool alone = task.others.empty();
  if (task.plan->purpose == Purpose::shared && writes && alone &&
      random.chance(options_.work.downgraded)) {
    later(task, random.between(Duration{0}, hold),
          [this, &task] { locker_.downgrade(task.lease); });
  } else if (task.plan->purpose == Purpose::seat) {
    proclaim_later(task);
  }
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

void Tasks::proclaim_later(Task& task) {
  Random& random = around_.world.random();
  later(task, random.mostly_short(Duration{0}, options_.work.hold_max), [this, &task] {
    if (locker_.valid(task.lease)) {
      locker_.proclaim(task.lease, next_value());
    }
    proclaim_later(task);
  });
}

// Work that fails is not done: another has to do it.
void Tasks::end_run(Task& task, bool on_lane) {
  Random& random = around_.world.random();
  if (winding_down_) {
    locker_.complete(task.lease, final_memory, on_lane);
  } else if (random.chance(options_.work.run_fails)) {
    locker_.fail(task.lease, on_lane);
  } else {
    locker_.complete(task.lease,
                     random.between(Duration{milliseconds{500}}, options_.work.remember_max),
                     on_lane);
  }
}

void Tasks::end(Task& task) {
  if (task.writing && task.lease->phase.load() == detail::LeasePhase::held) {
    later(task, milliseconds{20}, [this, &task] { end(task); });  // not with a write under way
    return;
  }
  Random& random = around_.world.random();
  if (!winding_down_ && random.chance(options_.work.abandoned)) {
    locker_.abandon(task.lease);
    for (const LeasePtr& other : task.others) {
      locker_.abandon(other);
    }
  } else if (const bool on_lane = random.chance(options_.work.lane_first);
             task.plan->purpose == Purpose::runs) {
    end_run(task, on_lane);
  } else {
    release(task, on_lane);
  }
  think(task);
}

// Of several, the first name is freed last: others wait for that one.
void Tasks::release(const Task& task, bool on_lane) {
  for (const LeasePtr& other : task.others) {
    locker_.release(other, false);
  }
  locker_.release(task.lease, on_lane);
}

void Tasks::lost(const LeasePtr& lease) {
  const auto task = std::ranges::find_if(tasks_, [&](const Task& each) {
    return each.lease == lease || std::ranges::find(each.others, lease) != each.others.end();
  });
  if (task != tasks_.end()) {
    // User code hears of it off the loop, then destroys its lease, which asks for a release.
    later(*task, Duration{0}, [this, &task = *task] {
      release(task, true);
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
           return task.attempt == 0 && !task.lease && task.finals == options_.work.names.size();
         });
}

}  // namespace holdfast::sim

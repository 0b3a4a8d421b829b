#include "sim/runtime.hpp"

#include <algorithm>

namespace holdfast::sim {

SimRuntime::SimRuntime(World& world, SimClock& clock, Duration lateness)
    : world_(world),
      clock_(clock),
      lateness_(lateness),
      self_(std::make_shared<SimRuntime*>(this)) {}

SimRuntime::~SimRuntime() { *self_ = nullptr; }

Runtime::TimerId SimRuntime::call_at(Instant when, UniqueFunction<void()> callback) {
  const TimerId id = ++last_id_;
  timers_.emplace(Timer{when, id}, std::move(callback));
  whens_.emplace(id, when);
  wake_at(late(when));
  return id;
}

void SimRuntime::cancel(TimerId timer) noexcept {
  const auto found = whens_.find(timer);
  if (found != whens_.end()) {
    timers_.erase(Timer{found->second, timer});
    whens_.erase(found);
  }
}

void SimRuntime::post(UniqueFunction<void()> callback) {
  posts_.push_back(std::move(callback));
  wake_at(world_.now());
}

void SimRuntime::post_by(Instant latest, UniqueFunction<void()> callback) {
  posts_.push_back(std::move(callback));
  wake_at(std::max(clock_.when(latest), world_.now()));
}

void SimRuntime::random_bytes(std::span<std::uint8_t> bytes) {
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(world_.random().bits());
  }
}

void SimRuntime::pause() { paused_ = true; }

void SimRuntime::resume() {
  paused_ = false;
  wake_at(world_.now());
}

void SimRuntime::clock_changed() {
  next_wake_ = WorldTime::max();
  plan_next_wake();
}

WorldTime SimRuntime::late(Instant when) {
  const Duration by = world_.random().mostly_short(Duration{0}, lateness_);
  const WorldTime due = std::max(clock_.when(when), world_.now());
  return due == WorldTime::max() ? due : due + by;
}

void SimRuntime::wake_at(WorldTime when) {
  if (when >= next_wake_) {
    return;  // also WorldTime::max(), which never comes
  }
  next_wake_ = when;
  world_.at(when, [self = self_, plan = ++plan_] {
    if (*self != nullptr && (*self)->plan_ == plan) {
      (*self)->wake();
    }
  });
}

void SimRuntime::wake() {
  next_wake_ = WorldTime::max();
  if (paused_) {
    return;
  }
  // A real loop finds timers and sockets ready in no promised order.
  const bool timers_first = world_.random().chance(500);
  if (timers_first) {
    run_due_timers();
  }
  run_posts();
  if (!timers_first) {
    run_due_timers();
  }
  if (!paused_) {
    plan_next_wake();
  }
}

void SimRuntime::run_due_timers() {
  // Timers that callbacks set now come in the next round, even if they are due already.
  const TimerId newest = last_id_;
  while (!paused_ && !timers_.empty() && timers_.begin()->first.first <= clock_.now() &&
         timers_.begin()->first.second <= newest) {
    auto next = timers_.extract(timers_.begin());
    whens_.erase(next.key().second);
    run(std::move(next.mapped()));
  }
}

void SimRuntime::run_posts() {
  // Only what is there now: posts of posts come in the next round, after timers.
  for (std::size_t left = posts_.size(); left > 0 && !paused_; --left) {
    UniqueFunction<void()> next = std::move(posts_.front());
    posts_.pop_front();
    run(std::move(next));
  }
}

void SimRuntime::run(UniqueFunction<void()> callback) {
  callback();
  if (after_each_) {
    after_each_();
  }
}

void SimRuntime::plan_next_wake() {
  if (!posts_.empty()) {
    wake_at(world_.now());
  }
  if (!timers_.empty()) {
    wake_at(late(timers_.begin()->first.first));
  }
}

}  // namespace holdfast::sim

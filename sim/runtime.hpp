// One node's Runtime in virtual time. It can be paused (SIGSTOP, a stalled virtual machine): then
// nothing of it runs, its clock goes on, and timers and messages are there when it comes back, in
// either order. Destroying it is a crash: everything in its memory is gone, unrun.
//
// Timers fire late by a chance delay up to `lateness`, as under load; a real kernel never fires
// them early.
#pragma once

#include "sim/clock.hpp"
#include "sim/world.hpp"

#include <holdfast/runtime.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace holdfast::sim {

class SimRuntime final : public Runtime {
 public:
  SimRuntime(World& world, SimClock& clock, Duration lateness);
  ~SimRuntime() override;
  SimRuntime(const SimRuntime&) = delete;
  SimRuntime& operator=(const SimRuntime&) = delete;

  Instant now() const override { return clock_.now(); }
  TimerId call_at(Instant when, UniqueFunction<void()> callback) override;
  void cancel(TimerId timer) noexcept override;
  void post(UniqueFunction<void()> callback) override;
  void post_by(Instant latest, UniqueFunction<void()> callback) override;
  void random_bytes(std::span<std::uint8_t> bytes) override;

  void pause();
  void resume();
  bool paused() const noexcept { return paused_; }
  void clock_changed();  // call it after a jump or a change of rate

  // Called after every callback, while nothing of this node runs: the moment to look at it.
  void after_each(std::function<void()> look) { after_each_ = std::move(look); }

 private:
  using Timer = std::pair<Instant, TimerId>;  // when it is due; equal ones in the order of calls

  WorldTime late(Instant when);  // when a timer for `when` fires
  void wake_at(WorldTime when);
  void wake();
  void run_due_timers();
  void run_posts();
  void run(UniqueFunction<void()> callback);
  void plan_next_wake();

  World& world_;
  SimClock& clock_;
  Duration lateness_;
  bool paused_ = false;
  TimerId last_id_ = 0;
  std::map<Timer, UniqueFunction<void()>> timers_{};
  std::map<TimerId, Instant> whens_{};
  std::deque<UniqueFunction<void()>> posts_{};
  WorldTime next_wake_ = WorldTime::max();
  std::uint64_t plan_ = 0;  // only the latest planned wake-up counts
  std::function<void()> after_each_{};
  std::shared_ptr<SimRuntime*> self_;  // planned wake-ups find out here that we crashed
};

}  // namespace holdfast::sim

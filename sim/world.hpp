// A world: true time, everything that will happen in it, chance, and the trace of what happened.
// One thread. Equal instants run in the order in which they were planned, so that a seed decides
// everything.
//
//   World world{seed};
//   world.after(5ms, [] { ... });
//   world.run_until(world.now() + 10s);
#pragma once

#include "sim/random.hpp"
#include "sim/trace.hpp"

#include <holdfast/function.hpp>
#include <holdfast/types.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace holdfast::sim {

// True time, which no node can read. A type of its own, so that it never mixes with an Instant.
struct WorldClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<WorldClock>;
  static constexpr bool is_steady = true;
};
using WorldTime = WorldClock::time_point;

class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() = default;

  WorldTime now() const noexcept { return now_; }
  Random& random() noexcept { return random_; }
  Trace& trace() noexcept { return trace_; }
  void note(std::string_view line) { trace_.note(now_.time_since_epoch(), line); }

  // Plans `event`; an instant that is over means now. There is no way to cancel: whoever may change
  // his mind lets the event ask whether it is still wanted.
  void at(WorldTime when, UniqueFunction<void()> event);
  void after(Duration delay, UniqueFunction<void()> event) { at(now_ + delay, std::move(event)); }

  // Runs what is planned up to and including `end`; then it is `end`.
  void run_until(WorldTime end);
  // Runs the next event if it is planned for `end` or before. False: there is none.
  bool step(WorldTime end);

  std::uint64_t steps() const noexcept { return steps_; }

 private:
  struct Planned {
    WorldTime when{};
    std::uint64_t sequence = 0;
    UniqueFunction<void()> event{};
  };
  static bool later(const Planned& a, const Planned& b) {
    return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
  }

  Random random_;
  Trace trace_{};
  WorldTime now_{};
  std::uint64_t next_sequence_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<Planned> heap_{};  // the next event first
};

}  // namespace holdfast::sim

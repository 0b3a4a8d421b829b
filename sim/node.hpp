// A machine of a world with one process on it. Its clock outlives the process; everything else is
// gone when the process crashes.
#pragma once

#include "sim/locker.hpp"
#include "sim/workload.hpp"

#include <memory>
#include <optional>

namespace holdfast::sim {

class Node {
 public:
  Node(Surroundings& around, const Options& options, NodeId id, std::int64_t drift_ppm);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() = default;

  void boot();       // starts the process, after the end of one that shuts down; else no effect
  void crash();      // as kill -9
  void shut_down();  // in good order: closes its client, and is killed if that takes two seconds
  void pause();
  void resume();
  void change_clock(std::int64_t drift_ppm, Duration jump);

  // Gives the process its random workload, now and after each boot.
  void run_tasks();
  void wind_down();
  bool done() const;

  NodeId id() const noexcept { return id_; }
  bool up() const noexcept { return life_ != nullptr; }
  bool paused() const { return life_ && life_->runtime.paused(); }
  Locker& locker() { return life_->locker; }  // precondition: up()
  const SimClock& clock() const noexcept { return clock_; }

 private:
  struct Life {
    Life(Surroundings& around, const Options& options, NodeId id, SimClock& clock)
        : runtime(around.world, clock, options.lateness), locker(around, id, clock, runtime) {}
    SimRuntime runtime;
    Locker locker;
    std::optional<Tasks> tasks{};
    bool ending = false;
  };

  Surroundings& around_;
  const Options& options_;
  NodeId id_;
  SimClock clock_;
  bool runs_tasks_ = false;
  bool winding_down_ = false;
  bool boots_again_ = false;  // once it has shut down
  std::uint64_t lives_ = 0;
  std::unique_ptr<Life> life_{};
};

}  // namespace holdfast::sim

// A clock in a world: it runs a little fast or slow, began somewhere, and may jump. A node has one,
// and so has a store.
#pragma once

#include "sim/world.hpp"

#include <holdfast/types.hpp>

namespace holdfast::sim {

class SimClock {
 public:
  // `drift_ppm`: microseconds gained in a true second; above -1 000 000.
  SimClock(const World& world, Instant start, std::int64_t drift_ppm);

  Instant now() const { return at(world_->now()); }
  Instant at(WorldTime when) const;
  // The first true instant at which this clock shows `when` or more, if nothing changes.
  WorldTime when(Instant shown) const;

  void set_drift(std::int64_t drift_ppm);
  std::int64_t drift() const noexcept { return drift_ppm_; }
  void jump(Duration by);

 private:
  void anchor();

  const World* world_;
  WorldTime anchor_true_;
  Instant anchor_shown_;
  std::int64_t drift_ppm_;
};

}  // namespace holdfast::sim

// What the job of an experiment sees of a lock, whichever protocol is behind it. One for each life
// of each instance; gone when its process crashes.
#pragma once

#include <holdfast/types.hpp>

#include <functional>

namespace holdfast::sim {

class Claimant {
 public:
  Claimant() = default;
  Claimant(const Claimant&) = delete;
  Claimant& operator=(const Claimant&) = delete;
  virtual ~Claimant() = default;

  // Waits for the lock, for ever; then calls `granted`, never from inside this call. `lost` is
  // called if it goes away without having been given back. Precondition: not held, not wanted.
  virtual void want(std::function<void()> granted, std::function<void()> lost) = 0;

  virtual bool valid() const = 0;  // may the job believe that it has the lock?
  virtual Fence fence() const = 0;
  virtual void stale() = 0;  // a guard refused the fence
  virtual void release() = 0;
};

}  // namespace holdfast::sim

// The leases that threads took through a face of the standard library, which has no handle to put
// them in. Thread-safe.
#pragma once

#include <holdfast/lease.hpp>

#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace holdfast::detail {

class HeldByThread {
 public:
  explicit HeldByThread(std::string name) : name_(std::move(name)) {}

  void keep(Lease lease);
  // The calling thread's latest: a reader may have several, and whoever lost a lease may lock again
  // before it unlocks. Ends the process if there is none: going on would break exclusion.
  Lease take();
  const Lease& latest() const;

 private:
  using Leases = std::multimap<std::thread::id, Lease>;
  [[noreturn]] void end_the_process(const char* what) const;

  const std::string name_;
  mutable std::mutex mutex_{};
  Leases leases_{};  // those of one thread in the order of their grants
};

}  // namespace holdfast::detail

#include "engine/held_by_thread.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace holdfast::detail {

void HeldByThread::end_the_process(const char* what) const {
  const std::string line =
      "holdfast: " + name_ + ": " + what + " by a thread that has not locked it\n";
  static_cast<void>(std::fputs(line.c_str(), stderr));
  std::abort();
}

void HeldByThread::keep(Lease lease) {
  const std::lock_guard guard{mutex_};
  leases_.emplace(std::this_thread::get_id(), std::move(lease));
}

Lease HeldByThread::take() {
  const std::lock_guard guard{mutex_};
  const auto end = leases_.upper_bound(std::this_thread::get_id());
  if (end == leases_.begin() || std::prev(end)->first != std::this_thread::get_id()) {
    end_the_process("unlocked");
  }
  return std::move(leases_.extract(std::prev(end)).mapped());
}

const Lease& HeldByThread::latest() const {
  const std::lock_guard guard{mutex_};
  const auto end = leases_.upper_bound(std::this_thread::get_id());
  if (end == leases_.begin() || std::prev(end)->first != std::this_thread::get_id()) {
    end_the_process("lease() was called");
  }
  return std::prev(end)->second;
}

}  // namespace holdfast::detail

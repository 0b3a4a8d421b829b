#include <holdfast/recursive_mutex.hpp>

namespace holdfast {

RecursiveMutex::RecursiveMutex(Client& client, std::string name, LeaseOptions options)
    : mutex_(client, std::move(name), std::move(options)) {}

void RecursiveMutex::lock() {
  if (!enter_again()) {
    mutex_.lock();
    first(true);
  }
}

bool RecursiveMutex::try_lock() { return enter_again() || first(mutex_.try_lock()); }

// False if the calling thread does not have it.
bool RecursiveMutex::enter_again() {
  const std::lock_guard guard{depths_mutex_};
  const auto depth = depths_.find(std::this_thread::get_id());
  if (depth == depths_.end()) {
    return false;
  }
  const Lease& lease = mutex_.lease();
  if (!lease.valid()) {
    const std::error_code why = lease.why_lost();
    throw Error{why ? why : make_error_code(errc::expired),
                "it was lost: unlock it as often as it was locked, then lock it again"};
  }
  ++depth->second;
  return true;
}

bool RecursiveMutex::first(bool locked) {
  if (locked) {
    const std::lock_guard guard{depths_mutex_};
    depths_.emplace(std::this_thread::get_id(), 1U);
  }
  return locked;
}

void RecursiveMutex::unlock() noexcept {
  {
    const std::lock_guard guard{depths_mutex_};
    const auto depth = depths_.find(std::this_thread::get_id());
    if (depth != depths_.end() && --depth->second > 0) {
      return;
    }
    depths_.erase(std::this_thread::get_id());
  }
  mutex_.unlock();  // which ends the process if this thread has not locked it
}

}  // namespace holdfast

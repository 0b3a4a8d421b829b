// holdfast/recursive_mutex.hpp: a Mutex that the thread which has it may lock again.
//
//   std::scoped_lock outer{m};
//   { std::scoped_lock inner{m}; }   // asks no store: the same lease, the same fence
//
// When not: nearly always. Code that does not know whether it holds the lock cannot know whether it
// was lost; pass the Lease to it instead.
#pragma once

#include <holdfast/mutex.hpp>

#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace holdfast {

// Re-entry is by object and thread: two RecursiveMutex objects of one name exclude each other (a
// thread that locks both gets errc::would_deadlock). A lease that was lost is not entered again:
// every lock() and try_lock() throws the reason until the thread has unlocked as often as it had
// locked.
//
// Thread-safe. The thread that locked must be the one that unlocks.
class RecursiveMutex {
 public:
  // Throws Error{invalid_name, invalid_options}. Sends nothing.
  RecursiveMutex(Client& client, std::string name, LeaseOptions options = {});

  const std::string& name() const noexcept { return mutex_.name(); }

  // --- Lockable, TimedLockable: throw Error as Mutex::acquire() does ---
  void lock();
  [[nodiscard]] bool try_lock();
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& timeout) {
    return enter_again() || first(mutex_.try_lock_for(timeout));
  }
  template <class Clock, class Dur>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Dur>& deadline) {
    return enter_again() || first(mutex_.try_lock_until(deadline));
  }
  void unlock() noexcept;  // the last one releases

  // Precondition: locked by the calling thread.
  const Lease& lease() const { return mutex_.lease(); }

 private:
  bool enter_again();
  bool first(bool locked);

  Mutex mutex_;
  std::mutex depths_mutex_{};
  std::map<std::thread::id, unsigned> depths_{};  // of the threads that have it
};

}  // namespace holdfast

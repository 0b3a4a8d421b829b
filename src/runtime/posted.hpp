// Callbacks posted to an event loop by any thread, and the boot-time timer that wakes it. One
// mutex guards both, because a callback that may wait is covered by the timer that is armed.
#pragma once

#include <holdfast/function.hpp>
#include <holdfast/types.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

namespace holdfast {

// add() and add_by() are for any thread, the rest for the loop's.
class Posted {
 public:
  using Callbacks = std::deque<UniqueFunction<void()>>;

  Posted();  // throws std::system_error when the timerfd cannot be made
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;
  ~Posted();

  int timer_descriptor() const noexcept { return descriptor_; }

  // Adds a callback. True: the caller has to wake the loop.
  bool add(UniqueFunction<void()> callback);

  // Adds one that may wait until `latest`: the timer is armed for it unless it will fire earlier.
  // True, as above: so many have gathered that they should not wait.
  bool add_by(Instant latest, UniqueFunction<void()> callback);

  // Appends all that was added to `to`, in order.
  void take(Callbacks& to);

  // Makes the timer fire at `when` or earlier. A system call only if it would fire later.
  void arm(Instant when) noexcept;

  // The timer has fired: it is armed for nothing now. take() must follow.
  void fired() noexcept;

 private:
  static constexpr std::size_t most_gathered = 1024;

  void arm_locked(Instant when) noexcept;

  const int descriptor_;
  std::atomic<bool> any_{false};                // lets take() skip the mutex
  std::atomic<Instant> armed_{Instant::max()};  // written under the mutex
  std::mutex mutex_{};
  Callbacks added_{};          // guarded by mutex_
  bool wake_pending_ = false;  // guarded by mutex_: somebody was told to wake the loop
};

}  // namespace holdfast

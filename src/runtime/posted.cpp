#include "runtime/posted.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <system_error>

namespace holdfast {

namespace {

int make_timer() {
  const int descriptor = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (descriptor < 0) throw std::system_error(errno, std::system_category(), "timerfd_create");
  return descriptor;
}

}  // namespace

Posted::Posted() : descriptor_(make_timer()) {}

Posted::~Posted() { ::close(descriptor_); }

bool Posted::add(UniqueFunction<void()> callback) {
  const std::lock_guard lock(mutex_);
  added_.push_back(std::move(callback));
  any_.store(true, std::memory_order_release);
  return !std::exchange(wake_pending_, true);
}

bool Posted::add_by(Instant latest, UniqueFunction<void()> callback) {
  const std::lock_guard lock(mutex_);
  added_.push_back(std::move(callback));
  any_.store(true, std::memory_order_release);
  if (wake_pending_) return false;
  if (added_.size() > most_gathered) return !std::exchange(wake_pending_, true);
  if (latest < armed_.load(std::memory_order_relaxed)) arm_locked(latest);
  return false;
}

void Posted::take(Callbacks& to) {
  if (!any_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  any_.store(false, std::memory_order_relaxed);
  wake_pending_ = false;
  if (to.empty()) {
    to.swap(added_);
    return;
  }
  std::move(added_.begin(), added_.end(), std::back_inserter(to));
  added_.clear();
}

void Posted::arm(Instant when) noexcept {
  if (when >= armed_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (when < armed_.load(std::memory_order_relaxed)) arm_locked(when);
}

void Posted::fired() noexcept {
  const std::lock_guard lock(mutex_);
  std::uint64_t expirations = 0;
  // Nothing to read when another thread armed it again meanwhile; firing once too often is fine.
  static_cast<void>(::read(descriptor_, &expirations, sizeof expirations));
  armed_.store(Instant::max(), std::memory_order_release);
}

void Posted::arm_locked(Instant when) noexcept {
  using std::chrono::seconds;
  // Zero would disarm it; an instant that has passed fires at once.
  const Duration since_boot = std::max(when.time_since_epoch(), Duration{1});
  const auto whole = std::chrono::duration_cast<seconds>(since_boot);
  itimerspec spec{};
  spec.it_value.tv_sec = whole.count();
  spec.it_value.tv_nsec = (since_boot - whole).count();
  timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &spec, nullptr);  // cannot fail: all is valid
  armed_.store(when, std::memory_order_release);
}

}  // namespace holdfast

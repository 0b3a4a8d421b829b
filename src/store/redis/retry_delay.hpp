// When to try to connect again: at once, then after 50 ms, doubling to 1 s, counted from the start
// of the last try.
#pragma once

#include <holdfast/types.hpp>

#include <algorithm>

namespace holdfast::redis {

class RetryDelay {
 public:
  static constexpr Duration first = std::chrono::milliseconds{50};
  static constexpr Duration longest = std::chrono::seconds{1};

  void tried(Instant now) noexcept { next_ = now + delay_; }
  void failed() noexcept { delay_ = std::min(delay_ * 2, longest); }
  void succeeded() noexcept { delay_ = first; }

  Instant next() const noexcept { return next_; }  // in the past: at once

 private:
  Duration delay_ = first;
  Instant next_{};
};

}  // namespace holdfast::redis

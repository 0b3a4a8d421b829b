#include "tests/support/manual_runtime.hpp"

#include <algorithm>

namespace holdfast::test {

Runtime::TimerId ManualRuntime::call_at(Instant when, UniqueFunction<void()> callback) {
  const TimerId id = ++last_timer_;
  timers_.emplace(std::pair{when, id}, std::move(callback));
  return id;
}

void ManualRuntime::cancel(TimerId timer) noexcept {
  std::erase_if(timers_, [timer](const auto& entry) { return entry.first.second == timer; });
}

void ManualRuntime::random_bytes(std::span<std::uint8_t> bytes) {
  std::ranges::fill(bytes, ++last_random_);
}

void ManualRuntime::run() {
  while (!posted_.empty()) {
    UniqueFunction<void()> callback = std::move(posted_.front());
    posted_.pop_front();
    callback();
  }
}

void ManualRuntime::run_due(Instant until) {
  run();
  while (!timers_.empty() && timers_.begin()->first.first <= until) {
    auto due = timers_.extract(timers_.begin());
    now_ = std::max(now_, due.key().first);
    due.mapped()();
    run();
  }
}

void ManualRuntime::pass(Duration time) {
  const Instant end = now_ + time;
  run_due(end);
  now_ = end;
}

void ManualRuntime::jump(Duration time) {
  now_ += time;
  run_due(now_);
}

}  // namespace holdfast::test

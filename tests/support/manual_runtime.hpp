// A Runtime whose time moves only when the test says so. No threads, no sleeps: the engine under
// test runs inside the calls of this class.
//
//   ManualRuntime runtime;
//   Engine engine{runtime, …};
//   runtime.pass(5s);  // runs what is posted and what is due, in order
#pragma once

#include <holdfast/runtime.hpp>

#include <deque>
#include <map>
#include <utility>

namespace holdfast::test {

class ManualRuntime final : public Runtime {
 public:
  Instant now() const override { return now_; }
  TimerId call_at(Instant when, UniqueFunction<void()> callback) override;
  void cancel(TimerId timer) noexcept override;
  void post(UniqueFunction<void()> callback) override { posted_.push_back(std::move(callback)); }
  void post_by(Instant, UniqueFunction<void()> callback) override { post(std::move(callback)); }
  void random_bytes(std::span<std::uint8_t> bytes) override;

  // Runs what is posted, and what that posts.
  void run();
  // Moves time on, stopping at each timer that is due on the way.
  void pass(Duration time);
  // Moves time on at once, as a process that was stopped sees it; what is due runs late.
  void jump(Duration time);

  std::size_t timers() const noexcept { return timers_.size(); }

 private:
  void run_due(Instant until);

  Instant now_{std::chrono::hours{1}};
  TimerId last_timer_ = 0;
  std::uint8_t last_random_ = 0;
  std::deque<UniqueFunction<void()>> posted_{};
  std::map<std::pair<Instant, TimerId>, UniqueFunction<void()>> timers_{};
};

}  // namespace holdfast::test

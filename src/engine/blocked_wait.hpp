// A caller that is blocked until the loop has brought its machine to an end.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::detail {

template <class Machine>
class BlockedWait {
 public:
  void set(std::optional<Machine> machine) {
    const std::lock_guard lock{mutex_};
    machine_ = std::move(machine);
    ended_ = true;
    done_.notify_all();
  }
  // nullopt: the loop ended first.
  std::optional<Machine> get() {
    std::unique_lock lock{mutex_};
    done_.wait(lock, [&] { return ended_; });
    return std::move(machine_);
  }

 private:
  std::mutex mutex_{};
  std::condition_variable done_{};
  std::optional<Machine> machine_{};
  bool ended_ = false;
};

// The loop's end of it. Destroyed uncalled (the client closes), it still lets the caller go.
template <class Machine>
class WakeCaller {
 public:
  explicit WakeCaller(std::shared_ptr<BlockedWait<Machine>> blocked)
      : blocked_(std::move(blocked)) {}
  WakeCaller(WakeCaller&&) noexcept = default;
  WakeCaller& operator=(WakeCaller&&) = delete;
  WakeCaller(const WakeCaller&) = delete;
  WakeCaller& operator=(const WakeCaller&) = delete;
  ~WakeCaller() {
    if (blocked_) {
      blocked_->set(std::nullopt);
    }
  }
  void operator()(Machine ended) { std::exchange(blocked_, {})->set(std::move(ended)); }

 private:
  std::shared_ptr<BlockedWait<Machine>> blocked_;
};

}  // namespace holdfast::detail

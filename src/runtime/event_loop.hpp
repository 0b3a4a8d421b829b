// An event loop over Asio with boot-time timers: a Lane when the caller runs it, a Loop when a
// thread does. Sockets and descriptors belong to its io_context.
#pragma once

#include <holdfast/runtime.hpp>

#include <memory>

namespace asio {
class io_context;
}

namespace holdfast {

// Timers are one heap of ours and one timerfd on CLOCK_BOOTTIME (Asio's own stand still in
// suspend). The timerfd is re-armed only when a timer becomes due earlier than it is armed for, so
// arming and cancelling a timeout around each request costs no system call.
class EventLoop final : public Lane {
 public:
  EventLoop();
  ~EventLoop() override;

  // The EventLoop behind a Runtime. Throws std::bad_cast in the simulator: stores that open
  // sockets cannot run there.
  static EventLoop& of(Runtime& runtime);

  Instant now() const override;
  TimerId call_at(Instant when, UniqueFunction<void()> callback) override;
  void cancel(TimerId timer) noexcept override;
  void post(UniqueFunction<void()> callback) override;
  void post_by(Instant latest, UniqueFunction<void()> callback) override;
  void random_bytes(std::span<std::uint8_t> bytes) override;
  void run_until(UniqueFunction<bool()> done) override;

  asio::io_context& context() noexcept;

  // Calls `on_readable` on the loop whenever `descriptor` has something to read, until the watch
  // is destroyed. The descriptor is made non-blocking and stays the caller's, who closes it after
  // the watch is gone.
  class Watch {
   public:
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    virtual ~Watch() = default;
  };
  std::unique_ptr<Watch> watch_readable(int descriptor, UniqueFunction<void()> on_readable);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast

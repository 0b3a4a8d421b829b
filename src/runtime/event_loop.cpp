#include "runtime/event_loop.hpp"

#include "runtime/descriptor.hpp"
#include "runtime/made_here.hpp"
#include "runtime/posted.hpp"
#include "runtime/random_source.hpp"
#include "runtime/timer_queue.hpp"

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>

#include <utility>

namespace holdfast {

struct EventLoop::State {
  State() : timer(context, posted.timer_descriptor()) { await_timer(); }
  ~State() { timer.release(); }  // posted closes it

  void await_timer() {
    timer.async_wait(asio::posix::stream_descriptor::wait_read, [this](const std::error_code& ec) {
      if (ec) return;
      posted.fired();
      timer_fired = true;
      await_timer();
    });
  }

  void wake() {
    asio::post(context, [] {});  // any handler ends the wait; run_until() then takes what came
  }

  // noexcept: a callback that throws ends the program; nobody could catch it on a loop's thread.
  void call(UniqueFunction<void()>& callback) noexcept {
    callback();
    finished = (*done)();
  }

  void run_ready() noexcept {
    // Those present now only: one that posts itself again and again must not keep off the sockets.
    for (std::size_t left = ready.size(); left > 0 && !finished; --left) {
      UniqueFunction<void()> callback = std::move(ready.front());
      ready.pop_front();
      call(callback);
    }
  }

  void run_due() noexcept {
    if (!std::exchange(timer_fired, false)) return;
    const Instant now = BootClock::now();
    for (std::size_t left = timers.size(); left > 0 && !finished; --left) {
      UniqueFunction<void()> callback = timers.pop_due(now);
      if (!callback) return;
      call(callback);
    }
  }

  MadeHere made_here{};
  Posted posted{};
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  asio::posix::stream_descriptor timer;
  bool timer_fired = false;
  TimerQueue timers{};
  Posted::Callbacks ready{};
  RandomSource random{};
  UniqueFunction<bool()>* done = nullptr;
  bool finished = false;
  State* next_abandoned = nullptr;
};

EventLoop::EventLoop() : state_(std::make_unique<State>()) {}

EventLoop::~EventLoop() {
  if (!state_->made_here) {
    abandon(std::move(state_));
    return;
  }
  // What callbacks own may still use the loop while it is destroyed. It may post again, too; that
  // goes down with the state.
  Posted::Callbacks unrun = std::move(state_->ready);
  state_->posted.take(unrun);
  unrun.clear();
  const TimerQueue timers = std::exchange(state_->timers, {});
}

EventLoop& EventLoop::of(Runtime& runtime) { return dynamic_cast<EventLoop&>(runtime); }

Instant EventLoop::now() const { return BootClock::now(); }

Runtime::TimerId EventLoop::call_at(Instant when, UniqueFunction<void()> callback) {
  return state_->timers.insert(when, std::move(callback));
}

void EventLoop::cancel(TimerId timer) noexcept { state_->timers.erase(timer); }

void EventLoop::post(UniqueFunction<void()> callback) {
  if (state_->posted.add(std::move(callback))) state_->wake();
}

void EventLoop::post_by(Instant latest, UniqueFunction<void()> callback) {
  if (state_->posted.add_by(latest, std::move(callback))) state_->wake();
}

void EventLoop::random_bytes(std::span<std::uint8_t> bytes) { state_->random.fill(bytes); }

void EventLoop::run_until(UniqueFunction<bool()> done) {
  State& state = *state_;
  state.done = &done;
  state.finished = done();
  while (!state.finished) {
    state.posted.take(state.ready);
    state.run_ready();
    if (!state.finished) state.run_due();
    if (state.finished) break;
    if (!state.ready.empty()) {
      state.context.poll_one();
    } else {
      state.posted.arm(state.timers.earliest());
      state.context.run_one();
    }
    state.finished = done();
  }
  state.done = nullptr;
}

asio::io_context& EventLoop::context() noexcept { return state_->context; }

namespace {

class DescriptorWatch final : public EventLoop::Watch {
 public:
  DescriptorWatch(EventLoop& loop, int number, UniqueFunction<void()> on_readable)
      : descriptor_(loop, number, Descriptor::Closing::callers) {
    descriptor_.on_readable([this, callback = std::move(on_readable)]() mutable {
      // Asked for before the callback, which may destroy this; what is still unread then counts.
      descriptor_.await_readable();
      callback();
    });
    descriptor_.await_readable();
  }

 private:
  Descriptor descriptor_;
};

}  // namespace

std::unique_ptr<EventLoop::Watch> EventLoop::watch_readable(int descriptor,
                                                            UniqueFunction<void()> on_readable) {
  return std::make_unique<DescriptorWatch>(*this, descriptor, std::move(on_readable));
}

}  // namespace holdfast

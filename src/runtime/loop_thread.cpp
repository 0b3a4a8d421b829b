#include "runtime/loop_thread.hpp"

#include "runtime/event_loop.hpp"
#include "runtime/made_here.hpp"
#include "runtime/signals_blocked.hpp"

#include <pthread.h>

#include <thread>
#include <utility>

namespace holdfast {

struct LoopThread::State {
  EventLoop loop{};
  bool stopping = false;  // of the loop's thread
  MadeHere made_here{};
  std::thread thread{};
  State* next_abandoned = nullptr;
};

LoopThread::LoopThread() : state_(std::make_unique<State>()) {
  const SignalsBlocked blocked;
  state_->thread = std::thread([state = state_.get()] {
    pthread_setname_np(pthread_self(), "holdfast-loop");
    state->loop.run_until([state] { return state->stopping; });
  });
}

LoopThread::~LoopThread() {
  if (state_ != nullptr && !state_->made_here) abandon_after_fork();
  stop();
}

Runtime& LoopThread::runtime() { return state_->loop; }

void LoopThread::stop() noexcept {
  if (state_ == nullptr || !state_->made_here || !state_->thread.joinable()) return;
  state_->loop.post([state = state_.get()] { state->stopping = true; });
  state_->thread.join();
}

void LoopThread::abandon_after_fork() noexcept { abandon(std::exchange(state_, nullptr)); }

}  // namespace holdfast

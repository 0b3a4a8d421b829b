#include "runtime/notifier_pool.hpp"

#include "runtime/made_here.hpp"
#include "runtime/signals_blocked.hpp"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast {

namespace {

constexpr std::size_t most_threads = 32;

}  // namespace

struct NotifierPool::State {
  void run() {
    pthread_setname_np(pthread_self(), "holdfast-notify");
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      arrived.wait(lock, [this] { return stopping || !queue.empty(); });
      --idle;
      if (queue.empty()) return;
      UniqueFunction<void()> callback = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      callback();
      callback = {};  // what it owns is not destroyed under the mutex
      lock.lock();
    }
  }

  // With the mutex held.
  void add_thread_if_all_are_busy() {
    if (queue.size() <= idle || threads.size() >= most_threads) return;
    try {
      const SignalsBlocked blocked;
      threads.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      if (threads.empty()) throw;  // else those that exist will get to it
    }
  }

  std::mutex mutex{};
  std::condition_variable arrived{};
  std::deque<UniqueFunction<void()>> queue{};
  std::size_t idle = 0;
  bool stopping = false;
  std::vector<std::thread> threads{};
  MadeHere made_here{};
  State* next_abandoned = nullptr;
};

NotifierPool::NotifierPool() : state_(std::make_unique<State>()) {}

NotifierPool::~NotifierPool() {
  if (state_ != nullptr && !state_->made_here) abandon_after_fork();
  if (state_ == nullptr) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->arrived.notify_all();
  // Callbacks that still run may post, and so start threads, until the last one has ended.
  for (std::size_t joined = 0;; ++joined) {
    std::unique_lock lock(state_->mutex);
    if (joined == state_->threads.size()) return;
    std::thread thread = std::move(state_->threads[joined]);
    lock.unlock();
    thread.join();
  }
}

void NotifierPool::post(UniqueFunction<void()> callback) {
  if (state_ == nullptr) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->queue.push_back(std::move(callback));
    state_->add_thread_if_all_are_busy();
  }
  state_->arrived.notify_one();
}

void NotifierPool::abandon_after_fork() noexcept { abandon(std::exchange(state_, nullptr)); }

}  // namespace holdfast

// Waiting for a lock in a C++20 coroutine, without any library of coroutines: the awaiter is all
// that it takes. A stop token cancels the wait.
//
//   example_coroutine [STORE-URL]
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <coroutine>
#include <exception>
#include <iostream>
#include <latch>

using namespace std::chrono_literals;

namespace {

// co_await acquired{mutex, wait} gives a Lease, or throws. Goes on in a thread of the client's.
class acquired {
 public:
  acquired(holdfast::Mutex& mutex, const holdfast::Wait& wait) : mutex_(mutex), wait_(wait) {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    mutex_.start_acquire(wait_, [this, waiting](std::error_code ec, holdfast::Lease lease) {
      code_ = ec;
      lease_ = std::move(lease);
      waiting.resume();
    });
  }
  holdfast::Lease await_resume() {
    if (code_) {
      throw std::system_error{code_};
    }
    return std::move(lease_);
  }

 private:
  holdfast::Mutex& mutex_;
  const holdfast::Wait& wait_;
  std::error_code code_{};
  holdfast::Lease lease_{};
};

// A coroutine that nobody awaits.
struct Task {
  struct promise_type {
    Task get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

Task work(holdfast::Mutex& mutex, holdfast::Wait wait, std::latch& done) {
  try {
    holdfast::Lease lease = co_await acquired(mutex, wait);
    std::cout << "granted, fence " << to_int(lease.fence()) << '\n';
  } catch (const std::system_error& error) {
    std::cout << error.what() << '\n';
  }
  done.count_down();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    holdfast::Client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::Mutex mutex{client, "report"};

    std::latch first{1};
    work(mutex, {.timeout = 5s}, first);
    first.wait();

    const holdfast::Lease lease = mutex.acquire();
    std::stop_source stop;
    std::latch second{1};
    work(mutex, {.stop = stop.get_token()}, second);
    stop.request_stop();
    second.wait();  // "the wait was cancelled"
    return 0;
  } catch (const std::system_error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

// Waits for an effect that can only be looked at: a file, a server's counter, another process.
// What can tell by itself (a future, a condition variable) is awaited, not polled.
#pragma once

#include <chrono>
#include <thread>

namespace holdfast::test {

// True as soon as `holds()` is; false when it still is not at the deadline.
template <class Predicate>
bool eventually(Predicate holds, std::chrono::nanoseconds patience = std::chrono::seconds{10}) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  auto pause = std::chrono::microseconds{200};
  for (;;) {
    if (holds()) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
    if (pause < std::chrono::milliseconds{10}) pause *= 2;
  }
}

}  // namespace holdfast::test

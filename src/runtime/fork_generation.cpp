#include "runtime/fork_generation.hpp"

#include <pthread.h>

namespace holdfast {

namespace {

std::atomic<std::uint64_t>& generation() noexcept {
  static std::atomic<std::uint64_t> value{0};
  return value;
}

}  // namespace

std::uint64_t fork_generation() noexcept {
  static const bool registered = [] {
    generation();  // its static exists before a child can touch it
    return pthread_atfork(nullptr, nullptr, [] { generation().fetch_add(1); }) == 0;
  }();
  static_cast<void>(registered);  // fails only without memory; then forks are not seen
  return generation().load(std::memory_order_relaxed);
}

}  // namespace holdfast

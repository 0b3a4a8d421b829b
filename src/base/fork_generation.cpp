#include "base/fork_generation.hpp"

#include <pthread.h>

#include <atomic>

namespace holdfast {

namespace {

std::atomic<unsigned> generation{0};

bool watch_forks() noexcept {
  pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  return true;
}

}  // namespace

unsigned fork_generation() noexcept {
  static const bool watching = watch_forks();
  return watching ? generation.load(std::memory_order_relaxed) : 0;
}

}  // namespace holdfast

// Tells a forked child from its parent. What was made before the fork belongs to the parent:
// its threads do not exist here, its epoll sets are shared with it, its random bytes are used
// there. Children made by vfork() or a raw clone() are not seen; they may only exec.
#pragma once

#include "base/fork_generation.hpp"

#include <atomic>
#include <memory>

namespace holdfast {

// Remembers the process that made it.
class MadeHere {
 public:
  explicit operator bool() const noexcept { return generation_ == fork_generation(); }

 private:
  unsigned generation_ = fork_generation();
};

// Gives `thing` up without destroying it. It stays reachable, so that leak checkers know that it
// is meant. T has a member `T* next_abandoned`.
template <class T>
void abandon(std::unique_ptr<T> thing) noexcept {
  static std::atomic<T*> first{nullptr};
  if (thing == nullptr) return;
  T* const given_up = thing.release();
  given_up->next_abandoned = first.load();
  while (!first.compare_exchange_weak(given_up->next_abandoned, given_up)) {
  }
}

}  // namespace holdfast

#include "cli/event_queue.hpp"

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <sys/eventfd.h>

namespace holdfast::cli {

EventQueue::EventQueue() : signal_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!signal_) {
    throw std::system_error(errno, std::generic_category(), "eventfd");
  }
}

void EventQueue::on_event(const Event& event) { push(event); }

void EventQueue::push(Happening happening) {
  {
    const std::lock_guard lock{mutex_};
    queue_.push_back(std::move(happening));
  }
  const std::uint64_t one = 1;
  // Full: it is readable already.
  [[maybe_unused]] const ssize_t written = write(signal_.get(), &one, sizeof one);
}

std::optional<Happening> EventQueue::pop() {
  // Cleared before looking, so that a push in between is seen now or wakes the next wait.
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t cleared = read(signal_.get(), &count, sizeof count);
  const std::lock_guard lock{mutex_};
  if (queue_.empty()) {
    return std::nullopt;
  }
  std::optional<Happening> first{std::move(queue_.front())};
  queue_.pop_front();
  return first;
}

}  // namespace holdfast::cli

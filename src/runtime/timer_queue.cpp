#include "runtime/timer_queue.hpp"

#include <stdexcept>

namespace holdfast {

TimerQueue::Id TimerQueue::insert(Instant when, UniqueFunction<void()> callback) {
  const std::size_t slot = take_slot();
  const Id id = (++sequence_ << slot_bits) | slot;
  slots_[slot].callback = std::move(callback);
  slots_[slot].id = id;
  heap_.push_back({when, id});
  sift_up(heap_.size() - 1, {when, id});
  return id;
}

bool TimerQueue::erase(Id id) noexcept {
  const std::size_t slot = id & slot_mask;
  if (id == 0 || slot >= slots_.size() || slots_[slot].id != id) return false;
  remove(slots_[slot].place);  // the callback is destroyed when the queue is whole again
  return true;
}

UniqueFunction<void()> TimerQueue::pop_due(Instant now) noexcept {
  if (heap_.empty() || heap_.front().when > now) return {};
  return remove(0);
}

std::size_t TimerQueue::take_slot() {
  if (unused_ != slot_mask) {
    const std::size_t slot = unused_;
    unused_ = slots_[slot].place;
    return slot;
  }
  if (slots_.size() >= slot_mask) throw std::length_error("holdfast: too many timers");
  slots_.emplace_back();
  return slots_.size() - 1;
}

void TimerQueue::put(std::size_t place, const Entry& entry) noexcept {
  heap_[place] = entry;
  slot_of(entry).place = place;
}

void TimerQueue::sift_up(std::size_t place, const Entry& entry) noexcept {
  while (place > 0) {
    const std::size_t parent = (place - 1) / 2;
    if (!before(entry, heap_[parent])) break;
    put(place, heap_[parent]);
    place = parent;
  }
  put(place, entry);
}

void TimerQueue::sift_down(std::size_t place, const Entry& entry) noexcept {
  for (;;) {
    std::size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], entry)) break;
    put(place, heap_[child]);
    place = child;
  }
  put(place, entry);
}

UniqueFunction<void()> TimerQueue::remove(std::size_t place) noexcept {
  const std::size_t slot = heap_[place].id & slot_mask;
  UniqueFunction<void()> callback = std::move(slots_[slot].callback);
  slots_[slot].id = 0;
  slots_[slot].place = unused_;
  unused_ = slot;

  const Entry last = heap_.back();
  heap_.pop_back();
  if (place == heap_.size()) return callback;
  if (place > 0 && before(last, heap_[(place - 1) / 2])) {
    sift_up(place, last);
  } else {
    sift_down(place, last);
  }
  return callback;
}

}  // namespace holdfast

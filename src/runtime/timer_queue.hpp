// Callbacks in the order of their instants; equal instants in the order of insertion. Pure: it is
// told the time. Insertion, cancelling and popping cost O(log n); a cancelled timer leaves nothing
// behind, so a timeout around every request stays cheap.
#pragma once

#include <holdfast/function.hpp>
#include <holdfast/types.hpp>

#include <cstdint>
#include <vector>

namespace holdfast {

// Not thread-safe. At most 2^22 timers at once (std::length_error beyond).
class TimerQueue {
 public:
  using Id = std::uint64_t;

  Id insert(Instant when, UniqueFunction<void()> callback);

  // Destroys the callback. False when the timer has gone already.
  bool erase(Id id) noexcept;

  // The instant of the first timer; Instant::max() when there is none. Changed by insert(),
  // erase() and pop_due().
  Instant earliest() const noexcept { return heap_.empty() ? Instant::max() : heap_.front().when; }

  // Takes the first timer out if it is due at `now`; an empty function if not.
  UniqueFunction<void()> pop_due(Instant now) noexcept;

  std::size_t size() const noexcept { return heap_.size(); }

 private:
  // An id is a sequence number, which orders equal instants and makes ids unique, above the slot
  // that finds the timer again.
  static constexpr unsigned slot_bits = 22;
  static constexpr Id slot_mask = (Id{1} << slot_bits) - 1;

  struct Entry {
    Instant when;
    Id id;
  };
  struct Slot {
    UniqueFunction<void()> callback{};
    Id id = 0;              // 0: unused
    std::size_t place = 0;  // in heap_; when unused: the next unused slot
  };

  static bool before(const Entry& a, const Entry& b) noexcept {
    return a.when != b.when ? a.when < b.when : a.id < b.id;
  }
  Slot& slot_of(const Entry& entry) noexcept { return slots_[entry.id & slot_mask]; }
  std::size_t take_slot();
  void put(std::size_t place, const Entry& entry) noexcept;
  void sift_up(std::size_t place, const Entry& entry) noexcept;
  void sift_down(std::size_t place, const Entry& entry) noexcept;
  UniqueFunction<void()> remove(std::size_t place) noexcept;

  std::vector<Entry> heap_{};
  std::vector<Slot> slots_{};
  std::size_t unused_ = slot_mask;  // head of the list of unused slots; slot_mask: none
  Id sequence_ = 0;
};

}  // namespace holdfast

#include "sim/world.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

void World::at(WorldTime when, UniqueFunction<void()> event) {
  heap_.push_back({std::max(when, now_), next_sequence_++, std::move(event)});
  std::ranges::push_heap(heap_, later);
}

bool World::step(WorldTime end) {
  if (heap_.empty() || heap_.front().when > end) {
    return false;
  }
  std::ranges::pop_heap(heap_, later);
  Planned next = std::move(heap_.back());
  heap_.pop_back();
  now_ = next.when;
  ++steps_;
  next.event();
  return true;
}

void World::run_until(WorldTime end) {
  while (step(end)) {
  }
  now_ = std::max(now_, end);
}

}  // namespace holdfast::sim

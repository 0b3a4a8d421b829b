#include "engine/lane_pool.hpp"

namespace holdfast::detail {

LanePool::Borrowed LanePool::borrow() {
  {
    const std::lock_guard lock{mutex_};
    if (!idle_.empty()) {
      std::unique_ptr<LaneStore> lane = std::move(idle_.back());
      idle_.pop_back();
      return {lane.release(), GiveBack{this}};
    }
  }
  return {std::make_unique<LaneStore>(host_.make_lane(), stores_).release(), GiveBack{this}};
}

void LanePool::GiveBack::operator()(LaneStore* returned) const noexcept {
  std::unique_ptr<LaneStore> lane{returned};  // destroyed here if it is not kept
  const std::lock_guard lock{pool_->mutex_};
  if (!pool_->closed_ && pool_->idle_.size() < kept_max) {
    pool_->idle_.push_back(std::move(lane));  // the most recently used goes out first
  }
}

void LanePool::close() noexcept {
  std::vector<std::unique_ptr<LaneStore>> idle;
  const std::lock_guard lock{mutex_};
  closed_ = true;
  idle.swap(idle_);
}

void LanePool::abandon_after_fork() noexcept {
  for (std::unique_ptr<LaneStore>& lane : idle_) {
    static_cast<void>(lane.release());  // the parent uses its descriptors: leak, touch nothing
  }
  idle_.clear();
}

}  // namespace holdfast::detail

#include "store/sqlite/name_state.hpp"

#include <utility>

namespace holdfast::sqlite {

namespace {

std::string use_of(std::uint32_t limit) {
  return limit == 0 ? "a lock" : "a semaphore with limit " + std::to_string(limit);
}

}  // namespace

NameState::NameState(std::string name, std::vector<LeaseRow> rows, Instant now)
    : name_(std::move(name)), known_(!rows.empty()) {
  for (LeaseRow& row : rows) {
    last_ = std::max(last_, row.fence);
    if (row.is_live(now)) {
      records_.push_back(std::move(row));
    } else {
      spare_.push_back(row.id);
    }
  }
  // Rows that are used again are not in the order of their ids.
  std::ranges::sort(records_, {}, [](const LeaseRow& row) { return row.fence; });
}

LeaseRow* NameState::find(const OwnerId& owner) {
  const auto found =
      std::ranges::find_if(records_, [&](const LeaseRow& row) { return row.is_held_by(owner); });
  return found == records_.end() ? nullptr : &*found;
}

bool NameState::fits(const Claim& claim) const {
  if (claim.mode == Mode::exclusive) {
    return records_.empty();
  }
  std::uint64_t taken = claim.permits;
  for (const LeaseRow& row : records_) {
    // A broken holder that asks again waits behind itself.
    if (row.owner == claim.owner || (claim.limit == 0 && row.mode == Mode::exclusive)) {
      return false;
    }
    taken += row.permits;
  }
  return claim.limit == 0 || taken <= claim.limit;
}

std::string NameState::why_contradicting(const Claim& claim,
                                         const std::optional<WaiterRow>& head) const {
  std::uint32_t limit = claim.limit;
  if (!records_.empty()) {
    limit = records_.front().limit;
  } else if (head) {
    limit = head->claim.limit;
  }
  if (limit == claim.limit) {
    return {};
  }
  return "the name is in use as " + use_of(limit) + ", not as " + use_of(claim.limit);
}

Busy NameState::busy(Instant now) const {
  if (records_.empty()) {
    return {};
  }
  const auto first =
      std::ranges::min_element(records_, {}, [](const LeaseRow& row) { return row.expires; });
  return {left(first->expires, now), records_.front().view(now)};
}

Fence NameState::floor_with(Fence fence) const {
  for (const LeaseRow& row : records_) {
    if (row.state != LeaseRow::State::released) {
      return std::min(row.fence, fence);
    }
  }
  return fence;
}

std::vector<std::int64_t> NameState::take_spare() { return std::exchange(spare_, {}); }

void NameState::add(LeaseRow row) {
  last_ = std::max(last_, row.fence);
  known_ = true;
  records_.push_back(std::move(row));
}

bool NameState::remove(const OwnerId& owner) {
  const auto found =
      std::ranges::find_if(records_, [&](const LeaseRow& row) { return row.owner == owner; });
  if (found == records_.end()) {
    return false;
  }
  const bool keeps = found->fence == last_;
  if (keeps) {
    spare_.push_back(found->id);
  }
  records_.erase(found);
  return keeps;
}

}  // namespace holdfast::sqlite

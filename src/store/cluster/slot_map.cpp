#include "store/cluster/slot_map.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::cluster {

std::uint16_t SlotMap::index_of(const Address& node) {
  const auto found = std::ranges::find(nodes_, node);
  if (found != nodes_.end()) {
    return static_cast<std::uint16_t>(found - nodes_.begin());
  }
  nodes_.push_back(node);
  return static_cast<std::uint16_t>(nodes_.size() - 1);
}

bool SlotMap::apply(const Layout& layout) {
  owners_.fill(nobody);
  for (const SlotRange& range : layout) {
    const std::uint16_t node = index_of(range.primary);
    std::fill(owners_.begin() + range.first, owners_.begin() + range.last + 1, node);
  }
  layout_ = layout;
  known_ = true;
  bool replaced = false;
  for (std::size_t slot = 0; slot < owners_.size(); ++slot) {
    replaced = remember(slot) || replaced;
  }
  return replaced;
}

bool SlotMap::move(Slot slot, const Address& to) {
  owners_[slot] = index_of(to);
  return remember(slot);
}

bool SlotMap::remember(std::size_t slot) noexcept {
  const std::uint16_t now = owners_[slot];
  if (now == nobody) {
    return false;
  }
  const std::uint16_t before = std::exchange(last_owners_[slot], now);
  return before != nobody && before != now;
}

const Address* SlotMap::primary_of(Slot slot) const noexcept {
  const std::uint16_t node = owners_[slot];
  return node == nobody ? nullptr : &nodes_[node];
}

std::vector<Address> SlotMap::primaries() const {
  std::vector<bool> serves(nodes_.size());
  for (const std::uint16_t owner : owners_) {
    if (owner != nobody) {
      serves[owner] = true;
    }
  }
  std::vector<Address> found;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (serves[i]) {
      found.push_back(nodes_[i]);
    }
  }
  std::ranges::sort(found);
  return found;
}

std::vector<Address> SlotMap::nodes() const {
  std::vector<Address> all = primaries();
  for (const SlotRange& range : layout_) {
    for (const Address& replica : range.replicas) {
      if (std::ranges::find(all, replica) == all.end()) {
        all.push_back(replica);
      }
    }
  }
  return all;
}

std::size_t SlotMap::uncovered() const noexcept {
  return static_cast<std::size_t>(std::ranges::count(owners_, nobody));
}

bool SlotMap::lost_any() const noexcept {
  for (std::size_t slot = 0; slot < owners_.size(); ++slot) {
    if (owners_[slot] == nobody && last_owners_[slot] != nobody) {
      return true;
    }
  }
  return false;
}

std::size_t SlotMap::replicas_of(const Address& primary) const {
  std::vector<Address> found;
  for (const SlotRange& range : layout_) {
    if (range.primary == primary) {
      found.insert(found.end(), range.replicas.begin(), range.replicas.end());
    }
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found.size();
}

}  // namespace holdfast::cluster

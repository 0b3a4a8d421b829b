// Which node serves which slot, as far as this client knows. Told by layouts and by redirections.
//
//   SlotMap map;
//   map.apply(layout);
//   if (const Address* node = map.primary_of(slot_of(key))) { send it there }
#pragma once

#include "store/cluster/layout.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace holdfast::cluster {

class SlotMap {
 public:
  SlotMap() {
    owners_.fill(nobody);
    last_owners_.fill(nobody);
  }

  bool known() const noexcept { return known_; }

  // Both answer whether a slot that had a primary has another one now, be it after a time without
  // any: what was granted there may be lost. A slot that a layout leaves out has no primary.
  bool apply(const Layout& layout);
  bool move(Slot slot, const Address& to);

  const Address* primary_of(Slot slot) const noexcept;
  std::vector<Address> primaries() const;  // that serve a slot; sorted
  std::vector<Address> nodes() const;      // primaries first, then replicas
  std::size_t uncovered() const noexcept;  // slots without a primary
  bool lost_any() const noexcept;          // a slot that had a primary has none now
  // Of the primaries that serve a slot, how many replicas the last layout gave each.
  std::size_t replicas_of(const Address& primary) const;

 private:
  static constexpr std::uint16_t nobody = 0xffff;

  std::uint16_t index_of(const Address& node);
  bool remember(std::size_t slot) noexcept;

  bool known_ = false;
  std::array<std::uint16_t, slot_count> owners_{};       // into nodes_
  std::array<std::uint16_t, slot_count> last_owners_{};  // the same, where there is nobody now
  std::vector<Address> nodes_{};                         // ever seen
  Layout layout_{};
};

}  // namespace holdfast::cluster

// All rows of one name in a step, and who fits beside whom. Pure: no clock, no SQL.
#pragma once

#include "store/sqlite/rows.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::sqlite {

class NameState {
 public:
  NameState(std::string name, std::vector<LeaseRow> rows, Instant now);

  const std::string& name() const noexcept { return name_; }
  // Living, by fence.
  const std::vector<LeaseRow>& records() const noexcept { return records_; }
  // False: the file knows nothing of this name, not even its last fence.
  bool is_known() const noexcept { return known_; }
  Fence last() const noexcept { return last_; }

  // The hold of an owner that did not give it back; null if there is none.
  LeaseRow* find(const OwnerId& owner);
  bool fits(const Claim& claim) const;
  // Empty, or how the claim contradicts the way in which the name is used; `head` waits first.
  std::string why_contradicting(const Claim& claim, const std::optional<WaiterRow>& head) const;
  // The oldest holder, and the first moment at which one of them may be gone.
  Busy busy(Instant now) const;
  // The lowest fence of those inside, once `fence` joins them.
  Fence floor_with(Fence fence) const;

  // Rows that may be used again or deleted.
  std::vector<std::int64_t> take_spare();
  void add(LeaseRow row);
  // Forgets a record. True: its row must stay, because it has the last fence of the name.
  bool remove(const OwnerId& owner);

 private:
  std::string name_;
  std::vector<LeaseRow> records_{};
  std::vector<std::int64_t> spare_{};
  Fence last_ = Fence::none;
  bool known_ = false;
};

}  // namespace holdfast::sqlite

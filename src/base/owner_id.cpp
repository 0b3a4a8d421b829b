#include <holdfast/types.hpp>

#include "base/hex.hpp"

namespace holdfast {

std::string OwnerId::text() const { return to_hex(bytes); }

std::optional<OwnerId> OwnerId::parse(std::string_view text) noexcept {
  OwnerId owner;
  if (!from_hex(text, owner.bytes)) {
    return std::nullopt;
  }
  return owner;
}

}  // namespace holdfast

// Owners and claims told apart by a small number, for tests of one store.
#pragma once

#include <holdfast/claim.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace holdfast::test {

inline OwnerId owner(std::uint8_t number) {
  OwnerId id;
  id.bytes.fill(number);
  return id;
}

inline Claim claim(const std::string& name, std::uint8_t number,
                   Duration ttl = std::chrono::seconds{10}) {
  Claim made;
  made.name = name;
  made.owner = owner(number);
  made.ttl = ttl;
  made.liveness = std::min<Duration>(ttl, std::chrono::seconds{5});
  made.who = {"host", number, "note " + std::to_string(number)};
  return made;
}

}  // namespace holdfast::test

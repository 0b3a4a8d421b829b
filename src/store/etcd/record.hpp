// What the value of a contender's key says. Pure. Programs that share the name write none, and read
// none.
//
//   holdfast 1\n OWNER\n held|waiting|broken\n TTL in ms\n host\n pid\n note\n value\n since
#pragma once

#include <holdfast/claim.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::etcd {

struct Record {
  enum class State : std::uint8_t { waiting, held, broken };

  OwnerId owner{};
  State state = State::waiting;
  std::int64_t ttl_ms = 0;    // what the store keeps it for without a word, lock delay included
  std::int64_t since_ms = 0;  // Unix time by the holder's clock; for people, decides nothing
  Who who{};
  std::string value{};

  std::string text() const;
  // Nothing: another program's contender.
  static std::optional<Record> parse(std::string_view text);

  bool operator==(const Record&) const = default;
};

}  // namespace holdfast::etcd

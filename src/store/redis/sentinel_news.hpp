// What sentinels say, taken apart.
//
// https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/ (Pub/Sub messages, API)
#pragma once

#include "store/redis/resp.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

struct Address {
  std::string host{};
  std::uint16_t port = 0;
  bool operator==(const Address&) const = default;
};

// One sentinel's answer to "where is the primary?".
struct SentinelWord {
  Address primary{};
  std::uint64_t epoch = 0;  // of the configuration: a later failover has a greater one
  std::uint32_t replicas = 0;
  std::uint32_t sentinels = 1;  // that watch it, this one included
  std::uint32_t quorum = 0;     // how many must agree that it is down
};

// From the replies to SENTINEL GET-MASTER-ADDR-BY-NAME, which tells of a promotion before the
// failover is over, and to SENTINEL MASTER, which has the epoch.
std::optional<SentinelWord> parse_word(const Reply& address, const Reply& master);

struct SentinelNews {
  enum class Kind : std::uint8_t {
    switched,  // this is the primary now
    selected,  // this replica is being made the primary, or was
  };
  Kind kind = Kind::switched;
  Address address{};
};

// What is subscribed to.
inline constexpr std::string_view switch_channel = "+switch-master";
inline constexpr std::string_view selected_channel = "+selected-slave";
inline constexpr std::string_view promoted_channel = "+promoted-slave";

// nullopt: it is about another primary than `name`, or nothing that we know.
std::optional<SentinelNews> parse_news(std::string_view channel, std::string_view payload,
                                       std::string_view name);

}  // namespace holdfast::redis

// One page of SCAN over the keys of a prefix: what list() goes through.
#pragma once

#include <holdfast/claim.hpp>

#include "store/redis/keys.hpp"
#include "store/redis/resp.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

struct ScanPage {
  std::string cursor{};  // empty: the last one
  std::vector<RedisKeys::Found> found{};
};

// Of names that start with `prefix`. nullopt: not the answer to SCAN.
std::optional<ScanPage> parse_scan(const Reply& reply, const RedisKeys& keys,
                                   std::string_view prefix);

// A name that is held and waited for has both a lock and a queue, and SCAN may show them on
// different pages: the lock's page tells of it.
bool belongs_to_page(const RedisKeys::Found& found, const NameView& view);

}  // namespace holdfast::redis

// The keys of one name as the scripts of a single name want them: KEYS[1] to KEYS[6].
#pragma once

#include "store/redis/keys.hpp"
#include "store/redis/request.hpp"

#include <string_view>

namespace holdfast::redis {

inline void add_all_keys(Request& request, const RedisKeys& keys, std::string_view name) {
  using enum RedisKeys::Kind;
  request.add(keys.lock(name));
  for (const auto kind : {fence, record, queue, beats, waiters}) {
    request.add(keys.helper(kind, name));
  }
}

}  // namespace holdfast::redis

// One EVAL on a caller's connection, and how its failures are told.
#pragma once

#include "guard/outcome.hpp"

#include <holdfast/guard/redis_reply.hpp>
#include <holdfast/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::guard {

Outcome refused(std::string detail);  // invalid_options

// A script with the guard's own keys and arguments before the caller's.
struct RedisCall {
  std::string text{};
  std::string key{};                // KEYS[1]
  std::vector<std::string> args{};  // the guard's
  RedisScript script{};             // the caller's: only its keys and arguments are sent from here
};

// Sets `reply` unless the outcome is an error.
Outcome run(redisContext* context, const RedisCall& call, RedisReply& reply);

// A key of the guards' in the hash slot of `subject`. `kind`: "guard.mark" or "guard.once".
Outcome make_key(std::string_view kind, std::string_view subject, std::string& key);

// Whether `key` could be one that make_key() makes: those are not the caller's to write.
bool is_guard_key(std::string_view key);

// A time to live as SET and PEXPIRE take it.
Outcome to_ms(Duration time, std::int64_t& ms);

// SET of KEYS[i] to ARGV[i + 1] for ARGV[1] milliseconds, 0: for ever.
inline constexpr std::string_view set_script = R"lua(
for i, key in ipairs(KEYS) do
  if ARGV[1] == '0' then redis.call('SET', key, ARGV[i + 1])
  else redis.call('SET', key, ARGV[i + 1], 'PX', ARGV[1]) end
end
return #KEYS)lua";

}  // namespace holdfast::guard

// holdfast/guard/redis_reply.hpp: what the Redis guards share: the caller's scripts and answers of
// the server, as hiredis makes them.
//
//   const RedisReply reply = guard.guarded_eval(stamp, "balance", {.text = "..."});
//   if (reply->type == REDIS_REPLY_INTEGER) ...     // include <hiredis/hiredis.h> yourself
#pragma once

#include <memory>
#include <string_view>
#include <vector>

struct redisContext;
struct redisReply;

namespace holdfast {

struct FreeRedisReply {
  void operator()(redisReply* reply) const noexcept;
};
using RedisReply = std::unique_ptr<redisReply, FreeRedisReply>;

struct RedisPair {
  std::string_view key{};
  std::string_view value{};
};

// A Lua script of the caller's, which sees its own KEYS and ARGV from 1 on. It is source text: hand
// values over in `args`, never build the text from what a stranger wrote.
// Redis does not undo what a script wrote before it failed: check first, then write.
struct RedisScript {
  std::string_view text{};
  std::vector<std::string_view> keys{};  // all keys it uses
  std::vector<std::string_view> args{};
};

}  // namespace holdfast

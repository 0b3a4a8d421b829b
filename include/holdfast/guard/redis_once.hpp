// holdfast/guard/redis_once.hpp: the once guard (idempotency key). The key is taken, the work done
// and its result kept by one script, so either all of it happened or nothing; a repeat gets the
// first result.
//
//   holdfast::RedisOnce once{context};
//   const OnceAnswer answer = once.eval("payment {cart:7}", {
//       .text = "return redis.call('INCRBY', KEYS[1], ARGV[1])",
//       .keys = {"cart:7"}, .args = {"100"}});
//   // answer.first: done now; else done before. answer.result: "100" in both cases
//
// Not for work outside the script: Redis has no transaction that could wait for it. In a Cluster
// the key must be in the slot of the data: give it the data's {tag}.
#pragma once

#include <holdfast/guard.hpp>
#include <holdfast/guard/redis_reply.hpp>

#include <string>
#include <string_view>

namespace holdfast {

struct OnceOptions {
  Fence fence = Fence::none;                       // kept for people and repeats; decides nothing
  Duration remember = std::chrono::hours{7 * 24};  // then the key is free again; from 1 ms
};

// As thread-safe as the context.
class RedisOnce {
 public:
  // `context` as for RedisGuard.
  explicit RedisOnce(redisContext* context) noexcept : context_(context) {}

  // Runs `script` unless `key` was taken in the last `remember`, and keeps what it returns: a
  // string, a status or a number (cut to an integer); of anything else only that it was done. A
  // script that fails leaves the key free (but not undone what it wrote before). Errors:
  // invalid_options, access_denied, store_unavailable, outcome_unknown as with RedisGuard; ask
  // again in the last case: the answer is the same.
  OnceAnswer eval(std::string_view key, const RedisScript& script, const OnceOptions& options = {});
  OnceAnswer eval(std::string_view key, const RedisScript& script, const OnceOptions& options,
                  std::error_code& ec);

 private:
  redisContext* context_;
};

// The key under which it is remembered: as redis_mark_key(), with `guard.once` for `guard.mark`.
std::string redis_once_key(std::string_view key);
std::string redis_once_key(std::string_view key, std::error_code& ec);

// What `holdfast guard sql redis-once` prints.
std::string guard_lua_redis_once();

}  // namespace holdfast

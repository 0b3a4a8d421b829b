#include <holdfast/guard/redis_owner.hpp>

#include "guard/redis_call.hpp"
#include "guard/redis_lua.hpp"

namespace holdfast {

namespace {

using guard::Outcome;
using guard::RedisCall;

Outcome try_eval(redisContext* context, const std::string& lock, const std::string& owner,
                 const RedisScript& script, RedisReply& reply) {
  if (lock.empty()) {
    return guard::refused("the key of the lock is missing");
  }
  const RedisCall call{
      .text = guard::if_owner(script.text), .key = lock, .args = {owner}, .script = script};
  return guard::run(context, call, reply);
}

Outcome try_set(redisContext* context, const std::string& lock, const std::string& owner,
                const RedisPair& pair, Duration ttl) {
  std::int64_t ms = 0;
  if (ttl != Duration::zero()) {
    if (Outcome bad = guard::to_ms(ttl, ms); bad.code) {
      return bad;
    }
  }
  const std::string time = std::to_string(ms);
  RedisReply reply;
  return try_eval(context, lock, owner,
                  {.text = guard::set_script, .keys = {pair.key}, .args = {time, pair.value}},
                  reply);
}

}  // namespace

RedisOwnerGuard::RedisOwnerGuard(redisContext* context, std::string lock_key, OwnerId owner)
    : context_(context), lock_key_(std::move(lock_key)), owner_(owner.text()) {}

void RedisOwnerGuard::owned_set(std::string_view key, std::string_view value, Duration ttl) {
  try_set(context_, lock_key_, owner_, {key, value}, ttl).raise();
}

void RedisOwnerGuard::owned_set(std::string_view key, std::string_view value, Duration ttl,
                                std::error_code& ec) {
  ec = try_set(context_, lock_key_, owner_, {key, value}, ttl).code;
}

RedisReply RedisOwnerGuard::owned_eval(const RedisScript& script) {
  RedisReply reply;
  try_eval(context_, lock_key_, owner_, script, reply).raise();
  return reply;
}

RedisReply RedisOwnerGuard::owned_eval(const RedisScript& script, std::error_code& ec) {
  RedisReply reply;
  ec = try_eval(context_, lock_key_, owner_, script, reply).code;
  return reply;
}

}  // namespace holdfast

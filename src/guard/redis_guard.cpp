#include <holdfast/guard/redis.hpp>

#include "guard/redis_call.hpp"
#include "guard/redis_lua.hpp"

namespace holdfast {

namespace {

using guard::Outcome;
using guard::RedisCall;

// The server checks again, for clients that do not come this way.
Outcome check_stamp(const Stamp& stamp) {
  if (to_int(stamp.fence) <= 0) {
    return guard::refused("a fence is positive: this is not the fence of a lease");
  }
  if (to_int(stamp.floor) < 0 || stamp.floor > stamp.fence) {
    return guard::refused("a floor is positive and not above the fence");
  }
  return stamp.name.empty() ? guard::refused("the lock's name is missing") : Outcome{};
}

Outcome try_eval(redisContext* context, const Stamp& stamp, std::string_view resource,
                 const RedisScript& script, RedisReply& reply) {
  if (Outcome bad = check_stamp(stamp); bad.code) {
    return bad;
  }
  RedisCall call{.text = guard::if_admitted(script.text), .script = script};
  if (Outcome bad = guard::make_key("guard.mark", resource, call.key); bad.code) {
    return bad;
  }
  const Fence floor = stamp.floor == Fence::none ? stamp.fence : stamp.floor;
  call.args = {stamp.name, std::to_string(to_int(stamp.fence)), std::to_string(to_int(floor))};
  return guard::run(context, call, reply);
}

Outcome try_set(redisContext* context, const Stamp& stamp, std::string_view resource,
                std::span<const RedisPair> pairs, Duration ttl) {
  std::int64_t ms = 0;
  if (ttl != Duration::zero()) {
    if (Outcome bad = guard::to_ms(ttl, ms); bad.code) {
      return bad;
    }
  }
  const std::string time = std::to_string(ms);
  RedisScript script{.text = guard::set_script, .keys = {}, .args = {time}};
  for (const RedisPair& pair : pairs) {
    if (guard::is_guard_key(pair.key)) {
      return guard::refused("this key belongs to a guard");
    }
    script.keys.push_back(pair.key);
    script.args.push_back(pair.value);
  }
  RedisReply reply;
  return try_eval(context, stamp, resource, script, reply);
}

Outcome try_admit(redisContext* context, std::string_view resource, std::string_view name,
                  Fence fence, Fence floor) {
  RedisReply reply;
  return try_eval(context, {.name = std::string(name), .fence = fence, .floor = floor}, resource,
                  {.text = "return 1"}, reply);
}

}  // namespace

void RedisGuard::admit(std::string_view resource, std::string_view name, Fence fence, Fence floor) {
  try_admit(context_, resource, name, fence, floor).raise();
}

void RedisGuard::admit(std::string_view resource, std::string_view name, Fence fence, Fence floor,
                       std::error_code& ec) {
  ec = try_admit(context_, resource, name, fence, floor).code;
}

void RedisGuard::guarded_set(const Stamp& stamp, std::string_view key, std::string_view value,
                             Duration ttl) {
  const RedisPair pair{key, value};
  try_set(context_, stamp, key, {&pair, 1}, ttl).raise();
}

void RedisGuard::guarded_set(const Stamp& stamp, std::string_view key, std::string_view value,
                             Duration ttl, std::error_code& ec) {
  const RedisPair pair{key, value};
  ec = try_set(context_, stamp, key, {&pair, 1}, ttl).code;
}

void RedisGuard::guarded_set(const Stamp& stamp, std::string_view resource,
                             std::span<const RedisPair> pairs, Duration ttl) {
  try_set(context_, stamp, resource, pairs, ttl).raise();
}

void RedisGuard::guarded_set(const Stamp& stamp, std::string_view resource,
                             std::span<const RedisPair> pairs, Duration ttl, std::error_code& ec) {
  ec = try_set(context_, stamp, resource, pairs, ttl).code;
}

RedisReply RedisGuard::guarded_eval(const Stamp& stamp, std::string_view resource,
                                    const RedisScript& script) {
  RedisReply reply;
  try_eval(context_, stamp, resource, script, reply).raise();
  return reply;
}

RedisReply RedisGuard::guarded_eval(const Stamp& stamp, std::string_view resource,
                                    const RedisScript& script, std::error_code& ec) {
  RedisReply reply;
  ec = try_eval(context_, stamp, resource, script, reply).code;
  return reply;
}

std::string redis_mark_key(std::string_view resource) {
  std::string key;
  guard::make_key("guard.mark", resource, key).raise();
  return key;
}

std::string redis_mark_key(std::string_view resource, std::error_code& ec) {
  std::string key;
  ec = guard::make_key("guard.mark", resource, key).code;
  return key;
}

}  // namespace holdfast

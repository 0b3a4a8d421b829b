// holdfast/guard/redis_owner.hpp: the owner guard. Writes only while the lock's own key in Redis
// still has this owner as its value.
//
//   holdfast::RedisOwnerGuard guard{context, "lock:{cart:7}", lease.owner()};
//   guard.owned_set("cart:7", "paid");              // throws not_owner
//
// For locks and data in the same Redis. No mark is left behind, and no fence is needed. In return
// it protects only as long as the server remembers the lock: not across a failover that lost the
// lock, an eviction, or a second primary. Where that matters, take RedisGuard: its mark and the
// fence decide whatever became of the lock. Not for shared leases and permits: the key has one
// value. In a Cluster the lock must be in the slot of the data: name the lock with the data's key
// as {tag}.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/guard/redis_reply.hpp>
#include <holdfast/types.hpp>

#include <string>
#include <string_view>

namespace holdfast {

// Errors of every call: not_owner: the lock is free or another's, nothing was written;
// invalid_options, access_denied, store_unavailable, outcome_unknown as with RedisGuard.
// As thread-safe as the context.
class RedisOwnerGuard {
 public:
  // `context` as for RedisGuard. `lock_key`: prefix and name of the lock, e.g. "lock:payout".
  RedisOwnerGuard(redisContext* context, std::string lock_key, OwnerId owner);

  // SET key value. `ttl`: zero, or from 1 ms, rounded up to whole milliseconds.
  void owned_set(std::string_view key, std::string_view value, Duration ttl = Duration::zero());
  void owned_set(std::string_view key, std::string_view value, Duration ttl, std::error_code& ec);

  // Runs `script` and gives its answer back.
  RedisReply owned_eval(const RedisScript& script);
  RedisReply owned_eval(const RedisScript& script, std::error_code& ec);

 private:
  redisContext* context_;
  std::string lock_key_;
  std::string owner_;
};

// What `holdfast guard sql redis-owner` prints.
std::string guard_lua_redis_owner();

}  // namespace holdfast

// holdfast/guard/redis.hpp: the Redis side of fencing. The check and the write are one script, so a
// holder that was paused and came back too late writes nothing.
//
//   holdfast::RedisGuard guard{context};                      // a blocking redisContext of yours
//   reporting_stale(lease, [&] {
//     guard.guarded_set(stamp_of(lease), "balance", "100");   // throws stale_fence
//   });
//
// What protects is the mark: a key beside the data with the greatest fence seen. It has no expiry
// and lives and dies with the data: as safe as the server's persistence (appendonly) and its
// replicas are, and gone if the server may evict it (use noeviction or a volatile- policy).
// Not for data in another server or database, and not across slots of a Cluster: the mark of
// resource R is in R's hash slot, so in a Cluster the data must be in that slot too. Take as
// resource the key itself, or a name with the data's {tag}.
// Jobs in other languages use the same scripts: `holdfast guard sql redis`.
//
// Brings the whole set:
//   redis_owner.hpp  write only while the lock's own key says it is mine
//   redis_once.hpp   an idempotency key: the second time, the first result
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/guard.hpp>
#include <holdfast/guard/redis_once.hpp>
#include <holdfast/guard/redis_owner.hpp>
#include <holdfast/guard/redis_reply.hpp>
#include <holdfast/types.hpp>

#include <span>
#include <string>
#include <string_view>

namespace holdfast {

// Resource guard. A resource is any text that stands for what the lock protects: mostly the key
// that is written. As thread-safe as the context; holds no state of its own.
//
// Errors of every call: stale_fence; invalid_options if the stamp has no name or no positive fence,
// its floor is not from 1 to the fence, another lock's name guards this resource, the keys are not
// in one slot, the resource is empty or can have no mark (redis_mark_key()), a MULTI is open, or
// the script failed; access_denied; store_unavailable: nothing was written; outcome_unknown: the
// answer is missing and the context is of no use any more; try again on a new one, the same fence
// passes again.
class RedisGuard {
 public:
  // `context` must outlive the guard, be connected, blocking, and have nothing pipelined. Its
  // timeouts are yours (redisSetTimeout).
  explicit RedisGuard(redisContext* context) noexcept : context_(context) {}

  // Only raises the mark, to shut predecessors out before the first write. A write after it that is
  // not itself guarded has the gap that guards exist to close.
  void admit(std::string_view resource, std::string_view name, Fence fence,
             Fence floor = Fence::none);
  void admit(std::string_view resource, std::string_view name, Fence fence, Fence floor,
             std::error_code& ec);

  // SET key value if the stamp is admitted for the resource `key`. `ttl`: zero, or from 1 ms,
  // rounded up to whole milliseconds.
  void guarded_set(const Stamp& stamp, std::string_view key, std::string_view value,
                   Duration ttl = Duration::zero());
  void guarded_set(const Stamp& stamp, std::string_view key, std::string_view value, Duration ttl,
                   std::error_code& ec);

  // The same for several keys that are guarded as one resource: all of them are written or none.
  void guarded_set(const Stamp& stamp, std::string_view resource, std::span<const RedisPair> pairs,
                   Duration ttl = Duration::zero());
  void guarded_set(const Stamp& stamp, std::string_view resource, std::span<const RedisPair> pairs,
                   Duration ttl, std::error_code& ec);

  // Runs `script` if the stamp is admitted, in the same step, and gives its answer back.
  RedisReply guarded_eval(const Stamp& stamp, std::string_view resource, const RedisScript& script);
  RedisReply guarded_eval(const Stamp& stamp, std::string_view resource, const RedisScript& script,
                          std::error_code& ec);

 private:
  redisContext* context_;
};

// The key of a resource's mark: `holdfast:{TAG}` 0x1f `guard.mark` 0x1f `RESOURCE`, where TAG is
// what Redis Cluster hashes of the resource: the text in its first {…}, else all of it. Errors:
// invalid_options for a resource that is empty, is itself such a key, or has a "}" but no
// {tag}: no other key could share its slot.
std::string redis_mark_key(std::string_view resource);
std::string redis_mark_key(std::string_view resource, std::error_code& ec);

// The guard as a Lua script for any client, with how to use it: what `holdfast guard sql redis`
// prints.
std::string guard_lua_redis();

}  // namespace holdfast

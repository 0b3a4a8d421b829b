// Two redis-servers for demos: a primary and a replica that is promoted without what the primary
// was told last. Both are this process's own, on the loopback, and end with it.
#pragma once

#include "cli/forwarder.hpp"
#include "cli/redis_process.hpp"

#include <memory>
#include <string>

namespace holdfast::cli {

class RedisPair {
 public:
  // `folder` is theirs. Ready when it returns; throws Error{store_unavailable} if they do not
  // start. Precondition: one thread.
  explicit RedisPair(const std::string& folder);

  std::string url() const;  // of the primary of the moment

  // From here on the replica hears nothing: what the primary is told now will be lost.
  void cut_replication();
  // REPLICAOF NO ONE on the replica; the clients of url() are moved to it.
  void fail_over();

 private:
  static void replicate(const RedisProcess& from, const RedisProcess& to);

  std::unique_ptr<RedisProcess> primary_;
  std::unique_ptr<RedisProcess> replica_;
  Forwarder forwarder_;
};

}  // namespace holdfast::cli

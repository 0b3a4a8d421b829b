// A Redis primary, a replica and three sentinels for demos: this process's own, on the loopback.
#pragma once

#include "cli/redis_process.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::cli {

class SentinelStage {
 public:
  // `folder` is theirs. All know each other when it returns; throws Error{store_unavailable} if
  // they do not start. Precondition: one thread.
  explicit SentinelStage(const std::string& folder);

  std::string url() const;  // redis+sentinel://…
  RedisProcess& primary() { return *primary_; }
  RedisProcess& replica() { return *replica_; }

  // From here on the replica hears nothing: what the primary is told now will be lost.
  void cut_replication();
  void restore_replication();
  // The primary stops in mid-air; returns when the replica takes writes. They change their roles.
  void freeze_primary_until_promotion();
  // The old primary goes on, and is made a replica of the new one.
  void thaw_old_primary();

 private:
  void start_sentinel(const std::string& folder, int number);
  void await_acquaintance();

  std::unique_ptr<RedisProcess> primary_;
  std::unique_ptr<RedisProcess> replica_;
  std::vector<std::unique_ptr<RedisProcess>> sentinels_{};
};

}  // namespace holdfast::cli

// Two redis-servers for demos: a primary and a replica that is promoted without what the primary
// was told last. Both are this process's own, on the loopback, and end with it.
#pragma once

#include "cli/forwarder.hpp"

#include <cstdint>
#include <memory>
#include <string>

#include <sys/types.h>

namespace holdfast::cli {

class RedisPair {
 public:
  static bool installed();

  // `folder` is theirs. Ready when it returns; throws Error{store_unavailable} if they do not
  // start. Precondition: one thread.
  explicit RedisPair(const std::string& folder);
  ~RedisPair();
  RedisPair(const RedisPair&) = delete;
  RedisPair& operator=(const RedisPair&) = delete;

  std::string url() const;  // of the primary of the moment

  // From here on the replica hears nothing: what the primary is told now will be lost.
  void cut_replication();
  // REPLICAOF NO ONE on the replica; the clients of url() are moved to it.
  void fail_over();

 private:
  struct Server {
    pid_t pid = 0;
    std::uint16_t port = 0;
  };
  Server start(const std::string& folder, const std::string& name);
  std::string ask(const Server& server, const std::string& words) const;
  void await(const Server& server, const std::string& words, const std::string& answer) const;
  void replicate(const Server& from, const Server& to) const;

  Server primary_{};
  Server replica_{};
  std::unique_ptr<Forwarder> forwarder_{};
};

}  // namespace holdfast::cli

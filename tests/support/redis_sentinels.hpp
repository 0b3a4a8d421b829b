// Real sentinels around a real primary and its replicas, on the loopback. They fail over within
// about a second of silence.
//
//   RedisSentinels group{{.replicas = 1}};
//   open_store(group.url());
//   group.primary().freeze();
//   RedisServer& promoted = group.await_promotion();
#pragma once

#include "tests/support/redis_server.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

struct SentinelOptions {
  int replicas = 1;
  int sentinels = 3;
  int quorum = 2;
  std::string sentinel_password{};  // of the sentinels themselves
  std::vector<std::string> more{};  // for every Redis server
  int down_after_ms = 400;
};

class RedisSentinels {
 public:
  static bool installed() { return RedisServer::installed(); }
  static constexpr const char* how_to_install = RedisServer::how_to_install;
  static constexpr const char* name = "mymaster";

  explicit RedisSentinels(SentinelOptions options = {});  // running, and all know each other
  RedisSentinels(const RedisSentinels&) = delete;
  RedisSentinels& operator=(const RedisSentinels&) = delete;
  ~RedisSentinels();

  std::string url() const;  // redis+sentinel://…/mymaster
  // The server that was the primary last.
  RedisServer& primary() { return *servers_[primary_]; }
  RedisServer& server(std::size_t index) { return *servers_[index]; }
  std::size_t servers() const noexcept { return servers_.size(); }

  // Waits until another server answers that it is the primary, and returns it.
  RedisServer& await_promotion();
  // Has the sentinels promote a replica although nothing is wrong.
  RedisServer& fail_over();
  // Waits until all sentinels name the primary and all other servers follow it.
  void await_agreement();

  void stop_sentinel(std::size_t index);
  std::string ask_sentinel(std::size_t index, const std::vector<std::string>& words);

 private:
  struct Sentinel;

  void start_sentinels();
  bool agreed();

  SentinelOptions options_;
  std::vector<std::unique_ptr<RedisServer>> servers_{};
  std::vector<std::unique_ptr<Sentinel>> sentinels_{};
  std::size_t primary_ = 0;
};

}  // namespace holdfast::test

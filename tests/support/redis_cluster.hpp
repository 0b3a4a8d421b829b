// A real Redis Cluster on the loopback: primaries that share the slots evenly, and a replica each
// if a test needs them. Forming one takes about a second, so suites that do not bend it share one.
//
//   RedisCluster cluster{{.replicas = true}};
//   open_store(cluster.url());
//   cluster.move_slot(slot, 0, 1);
//   cluster.fail_over(0);
#pragma once

#include "tests/support/redis_server.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

struct RedisClusterOptions {
  bool replicas = false;
  std::string bind = "127.0.0.1";  // or "::1"
  std::optional<TestCertificates::Kind> tls{};
  std::string node_timeout = "1000";  // ms
  std::vector<std::string> more{};
  std::vector<std::string> user{};  // as RedisOptions::user
};

class RedisCluster {
 public:
  static constexpr std::size_t primaries = 3;

  explicit RedisCluster(RedisClusterOptions options = {});  // in state ok when it returns
  RedisCluster(const RedisCluster&) = delete;
  RedisCluster& operator=(const RedisCluster&) = delete;

  // redis+cluster://…, of the nodes that were primaries first. `query` follows a "?" or "&".
  std::string url(const std::string& query = {}) const;

  // Nodes 0 to 2 are made primaries, 3 to 5 the replicas of 0 to 2.
  RedisServer& node(std::size_t index) { return *nodes_.at(index); }
  std::size_t size() const noexcept { return nodes_.size(); }
  std::size_t owner_of(unsigned slot) const;  // as it was formed, among 0 to 2
  std::string id_of(std::size_t index) { return ids_.at(index); }
  bool is_primary(std::size_t index);

  // The steps of a slot's move between two primaries; move_slot() does all three.
  void begin_move(unsigned slot, std::size_t from, std::size_t to);
  void move_keys(unsigned slot, std::size_t from, std::size_t to);
  void end_move(unsigned slot, std::size_t from, std::size_t to);
  void move_slot(unsigned slot, std::size_t from, std::size_t to);

  // Node `primary` + 3 takes over, in agreement with its primary ("") or without ("FORCE",
  // "TAKEOVER"). Returns once it is a primary.
  void fail_over(std::size_t primary, const std::string& how = {});

  // All nodes that answer agree that the cluster is ok.
  bool ok();

 private:
  void form();

  RedisClusterOptions options_;
  std::vector<std::unique_ptr<RedisServer>> nodes_{};
  std::vector<std::string> ids_{};
};

}  // namespace holdfast::test

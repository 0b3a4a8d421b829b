#include "cli/redis_pair.hpp"

#include <utility>

namespace holdfast::cli {

namespace {

std::unique_ptr<RedisProcess> start(const std::string& folder, const std::string& name) {
  const std::uint16_t port = RedisProcess::free_port();
  return std::make_unique<RedisProcess>(port, redis_arguments(port, folder, name));
}

}  // namespace

RedisPair::RedisPair(const std::string& folder)
    : primary_(start(folder, "one")), replica_(start(folder, "two")), forwarder_(primary_->port()) {
  replicate(*primary_, *replica_);
}

std::string RedisPair::url() const {
  return "redis://127.0.0.1:" + std::to_string(forwarder_.port()) + "/0";
}

void RedisPair::replicate(const RedisProcess& from, const RedisProcess& to) {
  to.ask("REPLICAOF 127.0.0.1 " + std::to_string(from.port()));
  to.await("INFO replication", "master_link_status:up");
}

void RedisPair::cut_replication() { replica_->ask("REPLICAOF 127.0.0.1 1"); }

void RedisPair::fail_over() {
  replica_->ask("REPLICAOF NO ONE");
  std::swap(primary_, replica_);
  forwarder_.switch_to(primary_->port());
  replicate(*primary_, *replica_);
}

}  // namespace holdfast::cli

#include "cli/sentinel_stage.hpp"

#include <fstream>
#include <utility>

namespace holdfast::cli {

namespace {

constexpr int sentinel_count = 3;

std::unique_ptr<RedisProcess> start(const std::string& folder, const std::string& name,
                                    const RedisProcess* primary) {
  const std::uint16_t port = RedisProcess::free_port();
  std::vector<std::string> arguments = redis_arguments(port, folder, name);
  if (primary != nullptr) {
    arguments.insert(arguments.end(),
                     {"--replicaof", "127.0.0.1 " + std::to_string(primary->port())});
  }
  return std::make_unique<RedisProcess>(port, std::move(arguments));
}

}  // namespace

SentinelStage::SentinelStage(const std::string& folder)
    : primary_(start(folder, "one", nullptr)), replica_(start(folder, "two", primary_.get())) {
  replica_->await("INFO replication", "master_link_status:up");
  for (int i = 1; i <= sentinel_count; ++i) {
    start_sentinel(folder, i);
  }
  await_acquaintance();
}

void SentinelStage::start_sentinel(const std::string& folder, int number) {
  const std::uint16_t port = RedisProcess::free_port();
  const std::string file = folder + "/sentinel-" + std::to_string(number) + ".conf";
  std::ofstream{file} << "port " << port << "\nbind 127.0.0.1\ndir " << folder
                      << "\nsentinel monitor demo 127.0.0.1 " << primary_->port()
                      << " 2\nsentinel down-after-milliseconds demo 500\n"
                         "sentinel failover-timeout demo 1000\n";
  sentinels_.push_back(
      std::make_unique<RedisProcess>(port, std::vector<std::string>{file, "--sentinel"}));
}

void SentinelStage::await_acquaintance() {
  for (const auto& sentinel : sentinels_) {
    sentinel->await("INFO sentinel", "slaves=1,sentinels=3");
  }
}

std::string SentinelStage::url() const {
  std::string hosts;
  for (const auto& sentinel : sentinels_) {
    hosts +=
        (hosts.empty() ? "" : ",") + std::string{"127.0.0.1:"} + std::to_string(sentinel->port());
  }
  return "redis+sentinel://" + hosts + "/demo";
}

void SentinelStage::cut_replication() {
  replica_->freeze();
  primary_->ask("CLIENT KILL TYPE replica");
}

void SentinelStage::restore_replication() {
  replica_->thaw();
  replica_->await("INFO replication", "master_link_status:up");
}

void SentinelStage::freeze_primary_until_promotion() {
  primary_->freeze();
  replica_->thaw();
  replica_->await("ROLE", "master");
  std::swap(primary_, replica_);
}

// Sentinel would do it by itself, ten seconds later.
void SentinelStage::thaw_old_primary() {
  replica_->thaw();
  replica_->ask("REPLICAOF 127.0.0.1 " + std::to_string(primary_->port()));
  replica_->await("INFO replication", "master_link_status:up");
}

}  // namespace holdfast::cli

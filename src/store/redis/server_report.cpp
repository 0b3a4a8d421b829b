#include "store/redis/server_report.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::redis {

namespace {

using Level = Finding::Level;

constexpr int oldest_major = 5;  // TIME before a write in a script needs effects replication
constexpr std::int64_t full_percent = 90;

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Finding judge_version(std::string_view info) {
  const std::string version = info_field(info, "redis_version");
  if (number(version) < oldest_major) {
    return {Level::failure, "Redis " + version + " is too old", "use Redis 5 or newer"};
  }
  return {Level::good, "Redis " + version, ""};
}

Finding judge_role(std::string_view info) {
  if (info_field(info, "cluster_enabled") == "1") {
    return {Level::failure, "it is a node of a Redis Cluster",
            "redis:// needs a server that is not part of a cluster"};
  }
  if (info_field(info, "role") == "slave") {
    return {Level::failure, "it is a replica", "name the primary in the URL"};
  }
  return {Level::good, "it is a primary", ""};
}

Finding judge_memory(std::string_view info) {
  const std::int64_t limit = number(info_field(info, "maxmemory"));
  const std::string policy = info_field(info, "maxmemory_policy");
  if (limit == 0) {
    return {Level::good, "no memory limit", ""};
  }
  if (policy != "noeviction") {
    return {Level::failure, "under full memory it may evict locks and fences (" + policy + ")",
            "set maxmemory-policy noeviction, or use a Redis of its own for locks"};
  }
  if (number(info_field(info, "used_memory")) > limit / 100 * full_percent) {
    return {Level::warning, "memory is nearly full; then new locks are refused",
            "raise maxmemory or remove keys"};
  }
  return {Level::good, "full memory refuses new locks and evicts none (noeviction)", ""};
}

Finding judge_persistence(std::string_view info) {
  if (info_field(info, "aof_enabled") == "1") {
    return {Level::good, "writes are logged to disk (appendonly)", ""};
  }
  return {Level::note, "no append-only file: a restart may forget who holds what",
          "holders learn at their next renewal and fences still rise; guard what they write"};
}

std::vector<Finding> judge_replicas(std::string_view info) {
  const std::string replicas = info_field(info, "connected_slaves");
  if (number(replicas) == 0) {
    return {{Level::note, "no replica is connected", ""}};
  }
  std::vector<Finding> findings{
      {Level::warning,
       "replication (to " + replicas + ") is asynchronous: a failover may lose a grant",
       "guard what holders write with the fence"}};
  const std::string good = info_field(info, "min_slaves_good_slaves");
  findings.push_back(good.empty() ? Finding{Level::note,
                                            "a primary cut off from its replicas goes on granting",
                                            "set min-replicas-to-write 1 to bound that"}
                                  : Finding{Level::good, "min-replicas-to-write is set", ""});
  return findings;
}

}  // namespace

std::string info_field(std::string_view info, std::string_view field) {
  const std::string start = std::string(field) + ':';
  for (std::size_t at = 0; at < info.size();) {
    const std::size_t end = std::min(info.find('\n', at), info.size());
    std::string_view line = info.substr(at, end - at);
    if (line.starts_with(start)) {
      line.remove_prefix(start.size());
      while (line.ends_with('\r')) {
        line.remove_suffix(1);
      }
      return std::string(line);
    }
    at = end + 1;
  }
  return {};
}

std::vector<Finding> judge_node(std::string_view info) {
  return {judge_version(info), judge_memory(info), judge_persistence(info)};
}

std::vector<Finding> judge_server(std::string_view info) {
  std::vector<Finding> findings{judge_version(info), judge_role(info), judge_memory(info),
                                judge_persistence(info)};
  for (Finding& finding : judge_replicas(info)) {
    findings.push_back(std::move(finding));
  }
  add_verdict(findings);
  return findings;
}

void add_verdict(std::vector<Finding>& findings) {
  if (std::ranges::none_of(
          findings, [](const Finding& one) { return one.level == Finding::Level::failure; })) {
    findings.push_back({Finding::Level::note,
                        "fit for efficiency; fit for correctness with a guard on what is written",
                        "hand the fence to the storage (holdfast guard)"});
  }
}

}  // namespace holdfast::redis

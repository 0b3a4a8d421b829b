#include "store/cluster/cluster_report.hpp"

#include "store/redis/server_report.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::cluster {

namespace {

using Level = Finding::Level;

constexpr std::int64_t slow_node_timeout = 15'000;

std::string names_of(const std::vector<Address>& nodes) {
  std::string text;
  for (const Address& node : nodes) {
    text += (text.empty() ? "" : ", ") + node.text();
  }
  return text;
}

Finding judge_state(const ClusterReport& report) {
  const std::string state = redis::info_field(report.state, "cluster_state");
  if (state.empty()) {
    return {Level::note, "this user may not run CLUSTER INFO, so its state is not known",
            "grant +cluster|info to let doctor look"};
  }
  if (state != "ok") {
    return {Level::failure, "the cluster is in state " + state + ": nothing is granted",
            "look at redis-cli --cluster check"};
  }
  return {Level::good, "the cluster is in state ok", ""};
}

Finding judge_slots(const SlotMap& map) {
  if (map.uncovered() != 0) {
    return {Level::failure, std::to_string(map.uncovered()) + " of 16384 slots have no primary",
            "names in them cannot be locked: bring their primary or a replica back"};
  }
  return {Level::good,
          "all slots are served, by " + std::to_string(map.primaries().size()) + " primaries", ""};
}

Finding judge_replicas(const SlotMap& map) {
  std::vector<Address> alone;
  for (const Address& node : map.primaries()) {
    if (map.replicas_of(node) == 0) {
      alone.push_back(node);
    }
  }
  if (!alone.empty()) {
    return {Level::warning, "without a replica: " + names_of(alone),
            "when such a node dies its names cannot be locked until it is back"};
  }
  return {Level::warning, "replication is asynchronous: a failover may lose a grant",
          "guard what holders write with the fence"};
}

Finding judge_timeout(const ClusterReport& report) {
  if (!report.node_timeout) {
    return {Level::note, "cluster-node-timeout is not known: this user may not run CONFIG GET", ""};
  }
  const std::string text = std::to_string(*report.node_timeout) + " ms";
  if (*report.node_timeout >= slow_node_timeout) {
    return {Level::note,
            "a dead primary is replaced after more than " + text + " (cluster-node-timeout)",
            "leases that are shorter than that end meanwhile; use a longer TTL or a shorter "
            "timeout"};
  }
  return {Level::good, "a dead primary is replaced after about " + text + " (cluster-node-timeout)",
          ""};
}

// What is said of a single server, once for all primaries of which it is true.
std::vector<Finding> judge_primaries(const ClusterReport& report) {
  std::vector<std::pair<Finding, std::vector<Address>>> seen;
  const auto add = [&seen](Finding finding, const Address& node) {
    const auto same = std::ranges::find_if(seen, [&finding](const auto& one) {
      return one.first.what == finding.what && one.first.level == finding.level;
    });
    if (same == seen.end()) {
      seen.emplace_back(std::move(finding), std::vector{node});
    } else {
      same->second.push_back(node);
    }
  };
  for (const NodeReport& one : report.primaries) {
    if (one.info.empty()) {
      add({Level::warning, one.why, "check that this node runs and that +info is granted"},
          one.node);
      continue;
    }
    for (Finding& finding : redis::judge_node(one.info)) {
      add(std::move(finding), one.node);
    }
  }
  std::vector<Finding> findings;
  for (auto& [finding, nodes] : seen) {
    const bool all = nodes.size() == report.primaries.size();
    finding.what = (all ? "every primary" : names_of(nodes)) + ": " + finding.what;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

std::vector<Finding> judge_cluster(const SlotMap& map, const ClusterReport& report) {
  std::vector<Finding> findings{judge_state(report), judge_slots(map), judge_replicas(map),
                                judge_timeout(report)};
  for (Finding& finding : judge_primaries(report)) {
    findings.push_back(std::move(finding));
  }
  findings.push_back({Level::note,
                      "one cluster is one failure domain: each name lives on one primary and its "
                      "replicas",
                      "for locks that survive the loss of a primary without a doubt use etcd"});
  redis::add_verdict(findings);
  return findings;
}

}  // namespace holdfast::cluster

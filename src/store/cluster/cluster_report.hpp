// What a Redis Cluster means for locks, as its nodes and its table of slots tell it. Pure: text in,
// findings out.
#pragma once

#include <holdfast/claim.hpp>

#include "store/cluster/slot_map.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::cluster {

struct NodeReport {
  Address node{};
  std::string info{};  // the text of INFO; empty: it did not answer, or may not be asked
  std::string why{};   // then: why
};

struct ClusterReport {
  std::vector<NodeReport> primaries{};
  std::string state{};                         // the text of CLUSTER INFO; empty: not known
  std::optional<std::int64_t> node_timeout{};  // ms
};

std::vector<Finding> judge_cluster(const SlotMap& map, const ClusterReport& report);

}  // namespace holdfast::cluster

// All nodes of one quorum, and what only an onlooker knows of them.
#pragma once

#include "sim/history.hpp"
#include "sim/network.hpp"
#include "sim/quorum_node.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace holdfast::sim {

class Quorum {
 public:
  Quorum(World& world, Network& network, History& history, const QuorumOptions& options,
         std::int64_t drift_ppm);

  std::vector<std::unique_ptr<QuorumNode>>& nodes() { return nodes_; }
  const QuorumOptions& options() const noexcept { return options_; }
  std::size_t majority() const { return nodes_.size() / 2 + 1; }
  // Two stores of one client (its lane's and its loop's) try for one owner: what one undoes must
  // not be what the other has just done.
  std::uint64_t next_attempt() noexcept { return ++attempts_; }
  // A node has noted `fence`: with the last of a quorum it can be granted.
  void noted(std::size_t node, const Claim& claim, Fence fence);
  // A client has its grant; one that has withdrawn already does not look at it.
  void granted(const Claim& claim, Fence fence);
  void withdrew(const OwnerId& owner) { withdrew_.insert(owner); }
  std::size_t marked() const;
  // Tells until when a quorum keeps what this claim holds.
  void tell_end(const Claim& claim) const;
  void heal();
  void look() const;

 private:
  World& world_;
  History& history_;
  QuorumOptions options_;
  std::vector<std::unique_ptr<QuorumNode>> nodes_{};
  struct Noted {
    std::set<std::size_t> nodes{};
    std::optional<Instant> complete{};  // in true time
  };
  std::map<std::pair<OwnerId, Fence>, Noted> noted_{};
  std::set<std::pair<OwnerId, Fence>> granted_{};
  std::set<OwnerId> withdrew_{};
  std::uint64_t attempts_ = 0;
};

}  // namespace holdfast::sim

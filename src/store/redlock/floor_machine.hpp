// Brings one node without a membership mark back into its quorum: it restarted without memory and
// counts for nothing until its floor is the greatest fence that a quorum of the *other* marked
// nodes knows. Not for nodes that are all new: there is nothing to read then, see README.md.
//
//   FloorMachine machine{5, 3, token};        // node 3 of 5 said that it has no mark, and `token`
//   if (auto join = machine.surveyed(0, high)) { … send join->floor and join->token to node 3 … }
#pragma once

#include "store/redlock/grant_machine.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace holdfast::redlock {

class FloorMachine {
 public:
  struct Join {  // the node refuses it unless `token` is still the one that it made up
    std::string token{};
    Fence floor = Fence::none;
  };

  // `token`: what the node made up for itself when it was found without a mark. A node that forgets
  // again makes up another, so that a join that was long on its way cannot mark it.
  FloorMachine(std::size_t nodes, std::size_t forgetful, std::string token)
      : nodes_(nodes), forgetful_(forgetful), token_(std::move(token)) {}

  // A node was surveyed: the greatest fence that it ever noted; none: it has no mark itself. From
  // then on it refuses to raise for whoever had locked, but not raised, at the survey. Answers
  // once, when a quorum of others was heard of.
  std::optional<Join> surveyed(std::size_t node, std::optional<Fence> high) {
    if (node == forgetful_ || !high || !heard_.insert(node).second) {
      return std::nullopt;
    }
    floor_ = std::max(floor_, *high);
    if (heard_.size() != majority(nodes_)) {
      return std::nullopt;
    }
    return Join{token_, floor_};
  }

 private:
  std::size_t nodes_;
  std::size_t forgetful_;
  std::string token_;
  std::set<std::size_t> heard_{};
  Fence floor_ = Fence::none;
};

}  // namespace holdfast::redlock

#include "sim/quorum.hpp"

#include <algorithm>
#include <functional>

namespace holdfast::sim {

Quorum::Quorum(World& world, Network& network, History& history, const QuorumOptions& options,
               std::int64_t drift_ppm)
    : world_(world), history_(history), options_(options) {
  for (std::size_t i = 0; i < options.nodes; ++i) {
    nodes_.push_back(std::make_unique<QuorumNode>(world, network, history, place_of_server(i + 1),
                                                  world.random().between(-drift_ppm, drift_ppm),
                                                  options));
  }
}

void Quorum::noted(std::size_t node, const Claim& claim, Fence fence) {
  Noted& noted = noted_[{claim.owner, fence}];
  noted.nodes.insert(node);
  if (noted.nodes.size() >= majority() && !noted.complete) {
    noted.complete = Instant{world_.now().time_since_epoch()};
  }
}

void Quorum::granted(const Claim& claim, Fence fence) {
  if (!withdrew_.contains(claim.owner) && granted_.insert({claim.owner, fence}).second) {
    const Instant now{world_.now().time_since_epoch()};
    const Instant at = noted_[{claim.owner, fence}].complete.value_or(now);
    history_.record(StoreGranted{claim.name, claim.owner, fence, false, at, use_of(claim), fence});
  }
}

void Quorum::tell_end(const Claim& claim) const {
  std::vector<WorldTime> ends;
  for (const auto& node : nodes_) {
    if (const auto end = node->keeps(claim)) {
      ends.push_back(*end);
    }
  }
  std::ranges::sort(ends, std::greater{});
  if (ends.size() >= majority()) {
    history_.record(StoreHolds{claim.name, claim.owner, ends[majority() - 1]});
  }
}

std::size_t Quorum::marked() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(nodes_, [](const auto& node) { return node->marked(); }));
}

void Quorum::heal() {
  for (const auto& node : nodes_) {
    node->heal();
  }
}

void Quorum::look() const {
  for (const auto& node : nodes_) {
    node->look();
  }
}

}  // namespace holdfast::sim

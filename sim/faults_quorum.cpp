// Faults of one node of a quorum.
#include "sim/faults.hpp"

namespace holdfast::sim {

namespace {

using std::chrono::seconds;

}  // namespace

QuorumNode& Faults::any_quorum_node() {
  auto& nodes = around_.quorum->nodes();
  return *nodes[static_cast<std::size_t>(around_.world.random().below(nodes.size()))];
}

void Faults::quorum_restart() {
  const Duration down = lasting(seconds{8});
  any_quorum_node().restart(true, down);
  last("restart of a node", all(), down, [] {});
}

// The documented condition: at any time a quorum of the other nodes remembers.
void Faults::quorum_forget() {
  QuorumNode& node = any_quorum_node();
  const std::size_t others = around_.quorum->marked() - (node.marked() ? 1 : 0);
  if (others >= around_.quorum->majority()) {
    const Duration down = lasting(seconds{8});
    node.restart(false, down);
    last("restart of a node without memory", all(), down, [] {});
  }
}

void Faults::quorum_jump() {
  Random& random = around_.world.random();
  any_quorum_node().jump_clock(random.between(Duration{seconds{-4}}, Duration{seconds{8}}));
  last("clock jump of a node", all(), Duration{0}, [] {});
}

void Faults::quorum_freeze() {
  QuorumNode& node = any_quorum_node();
  node.freeze();
  last("frozen node", all(), lasting(seconds{12}), [&node] { node.thaw(); });
}

void Faults::quorum_cut() {
  const Place far = any_quorum_node().place();
  const NodeId near = any_node().id();
  Network& network = around_.network;
  const std::uint64_t which = around_.world.random().below(3);  // there, back, or both
  const auto switch_to = [&network, far, near, which](bool on) {
    if (which != 0) {
      network.cut(far, place_of_node(near), on);
    }
    if (which != 1) {
      network.cut(place_of_node(near), far, on);
    }
  };
  switch_to(true);
  last("cut off from a node", {near}, lasting(seconds{15}), [switch_to] { switch_to(false); });
}

}  // namespace holdfast::sim

#include "sim/stories/director.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration restart_after = seconds{2};
constexpr Duration new_primary_after = milliseconds{300};
constexpr Duration split_for = seconds{8};

}  // namespace

Director::Director(const Trial& trial, Universe& universe, PlainServer& plain, Recorder& recorder,
                   std::function<void(NodeId)> crash, std::function<void(NodeId)> start)
    : trial_(trial),
      universe_(universe),
      plain_(plain),
      recorder_(recorder),
      crash_(std::move(crash)),
      start_(std::move(start)) {}

void Director::arm(bool wanted, Moment moment, void (Director::*strike)(NodeId)) {
  if (!wanted) {
    return;
  }
  Random& random = universe_.world.random();
  if (moment == Moment::any) {
    const Duration job = trial_.work * static_cast<std::int64_t>(trial_.orders);
    const Duration when = random.between(Duration{milliseconds{100}}, job + milliseconds{500});
    const auto node = static_cast<NodeId>(random.below(trial_.instances));
    after(when, [this, strike, node] { (this->*strike)(node); });
    return;
  }
  // Writes come often: not always the first of them. The rest comes once in a turn.
  const auto countdown = static_cast<std::uint64_t>(
      moment == Moment::before_write ? random.between(2, 3) : std::int64_t{1});
  faults_.push_back({moment, countdown, strike});
}

void Director::after(Duration delay, std::function<void()> event) {
  ++lasting_;
  universe_.world.after(delay, [this, event = std::move(event)] {
    event();
    --lasting_;
  });
}

void Director::begin() {
  arm(trial_.pause > Duration{0}, trial_.pause_at, &Director::pause);
  arm(trial_.crash, trial_.crash_at, &Director::crash);
  arm(trial_.cut > Duration{0}, trial_.cut_at, &Director::cut);
  arm(trial_.write_delay > Duration{0}, Moment::before_write, &Director::delay_write);
  arm(trial_.failover, Moment::before_write, &Director::fail_over);
  arm(trial_.left_behind, Moment::before_write, &Director::leave_behind);
  arm(trial_.quorum_jump > Duration{0} || trial_.quorum_forget, Moment::before_write,
      &Director::spoil_node);
  if (trial_.dead_nodes) {
    kill_nodes();
  }
  arm(trial_.store_clock_jump > Duration{0}, Moment::before_write, &Director::jump_store_clock);
  arm(trial_.node_clock_jump > Duration{0}, Moment::before_write, &Director::jump_node_clock);
  if (trial_.loss_per_mille > 0) {
    for (const NodeId node : all()) {
      universe_.history.record(Trouble{node, true, "messages are lost"});
    }
  }
}

void Director::reached(NodeId node, Moment moment) {
  for (Fault& fault : faults_) {
    if (fault.moment == moment && fault.countdown > 0 && --fault.countdown == 0) {
      (this->*fault.strike)(node);
    }
  }
}

std::vector<NodeId> Director::all() const {
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < trial_.instances; ++node) {
    nodes.push_back(node);
  }
  return nodes;
}

void Director::trouble(const std::vector<NodeId>& nodes, const std::string& what, Duration duration,
                       std::function<void()> undo) {
  for (const NodeId node : nodes) {
    universe_.history.record(Trouble{node, true, what});
  }
  after(duration, [this, nodes, what, undo = std::move(undo)] {
    undo();
    for (const NodeId node : nodes) {
      universe_.history.record(Trouble{node, false, what});
    }
  });
}

// ---- what strikes ------------------------------------------------------------------------------

void Director::pause(NodeId node) {
  universe_.nodes[node]->pause();
  after(trial_.pause, [this, node] { universe_.nodes[node]->resume(); });
}

// Not from inside a callback of the process that goes away.
void Director::crash(NodeId node) {
  after(Duration{0}, [this, node] { crash_(node); });
  after(restart_after, [this, node] { start_(node); });
}

void Director::cut_off(NodeId node, Duration duration) {
  const auto both_ways = [this, node](bool on) {
    universe_.network.cut(place_of_node(node), Place::store, on);
    universe_.network.cut(Place::store, place_of_node(node), on);
  };
  both_ways(true);
  trouble({node}, "cut off from the store", duration, [both_ways] { both_ways(false); });
}

void Director::cut(NodeId node) { cut_off(node, trial_.cut); }

void Director::delay_write(NodeId node) {
  universe_.network.clog(place_of_node(node), Place::database, true);
  recorder_.mark(MarkKind::message_lost, node, node,
                 "a write of " + Recorder::name_of(node) + " is held up on its way");
  after(trial_.write_delay,
        [this, node] { universe_.network.clog(place_of_node(node), Place::database, false); });
  after(milliseconds{10}, [this, node] { crash_(node); });
  after(trial_.write_delay + restart_after, [this, node] { start_(node); });
}

void Director::fail_over(NodeId node) {
  universe_.server.fail_over(new_primary_after, Duration{0});
  plain_.fail_over(new_primary_after);
  recorder_.mark(MarkKind::forgot, recorder_.store_lane(), std::nullopt,
                 "failover: a replica that is behind becomes the store");
  trouble(all(), "failover", new_primary_after, [] {});
  if (trial_.split) {
    cut_off(node, split_for);
  }
}

void Director::leave_behind(NodeId node) {
  Replicas& servers = universe_.servers;
  servers.split({node}, trial_.instances, true);
  recorder_.mark(MarkKind::message_lost, recorder_.store_lane(), node,
                 "the primary is cut off, together with " + Recorder::name_of(node));
  trouble(all(), "no primary", new_primary_after, [this, &servers] {
    servers.promote();
    recorder_.mark(MarkKind::forgot, recorder_.store_lane(), std::nullopt,
                   "a replica becomes the primary; the old one does not know");
  });
  if (trial_.acks >= trial_.replicas) {  // nor has the new one as many as must acknowledge
    trouble(all(), "too few replicas", split_for, [] {});
  }
  trouble({node}, "left with the old primary", split_for, [this, node, &servers] {
    servers.split({node}, trial_.instances, false);
    servers.depose_others();
    recorder_.mark(
        MarkKind::forgot, recorder_.store_lane(), node,
        "the old primary is deposed: " + Recorder::name_of(node) + " can see the new one");
  });
}

// Those that a quorum can do without: what is locked meanwhile is locked on the rest alone.
void Director::kill_nodes() {
  Quorum& quorum = *universe_.quorum;
  for (std::size_t i = quorum.majority(); i < quorum.nodes().size(); ++i) {
    quorum.nodes()[i]->freeze();
    recorder_.mark(MarkKind::message_lost, recorder_.store_lane(), std::nullopt,
                   "node " + std::to_string(i + 1) + " does not answer");
  }
}

// The last node of the holder's quorum breaks its word; the dead ones are there again.
void Director::spoil_node(NodeId /*node*/) {
  Quorum& quorum = *universe_.quorum;
  const std::size_t last = quorum.majority() - 1;
  for (std::size_t i = quorum.majority(); trial_.dead_nodes && i < quorum.nodes().size(); ++i) {
    quorum.nodes()[i]->restart(true, Duration{0});
  }
  const std::string name = "node " + std::to_string(last + 1);
  trouble(all(), "a node", Duration{0}, [] {});
  if (trial_.quorum_jump > Duration{0}) {
    quorum.nodes()[last]->jump_clock(trial_.quorum_jump);
    recorder_.mark(MarkKind::clock_jumped, recorder_.store_lane(), std::nullopt,
                   "the clock of " + name + " is set forward");
  }
  if (trial_.quorum_forget) {
    quorum.nodes()[last]->restart(false, milliseconds{50});
    recorder_.mark(MarkKind::forgot, recorder_.store_lane(), std::nullopt,
                   name + " restarts, and knows nothing");
  }
}

void Director::jump_store_clock(NodeId /*node*/) {
  recorder_.mark(MarkKind::clock_jumped, recorder_.store_lane(), std::nullopt,
                 "the store's clock is set forward");
  universe_.server.jump_clock(trial_.store_clock_jump);
  plain_.jump_clock(trial_.store_clock_jump);
  trouble(all(), "clock of the store", Duration{0}, [] {});
}

void Director::jump_node_clock(NodeId node) {
  recorder_.mark(MarkKind::clock_jumped, node, node,
                 "the clock of " + Recorder::name_of(node) + " jumps forward");
  Node& struck = *universe_.nodes[node];
  trouble({node}, "clock", Duration{0}, [] {});
  struck.change_clock(struck.clock().drift(), trial_.node_clock_jump);
}

}  // namespace holdfast::sim

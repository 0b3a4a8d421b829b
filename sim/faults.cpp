#include "sim/faults.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

Faults::Faults(Surroundings& around, const Options& options,
               std::vector<std::unique_ptr<Node>>& nodes)
    : around_(around), options_(options), nodes_(nodes) {}

void Faults::begin() {
  const FaultRates& rates = options_.faults;
  plan(rates.pause, "pause", &Faults::pause);
  plan(rates.crash, "crash", &Faults::crash);
  plan(rates.shut_down, "shutdown", &Faults::shut_down);
  plan(rates.cut, "cut", &Faults::cut);
  plan(rates.clog, "clog", &Faults::clog);
  plan(rates.freeze, "freeze", &Faults::freeze);
  plan(rates.restart, "restart", &Faults::restart);
  plan(rates.restart_empty, "empty restart", &Faults::restart_empty);
  plan(rates.fail_over, "failover", &Faults::fail_over);
  plan(rates.primary_lost, "lost primary", &Faults::lose_primary);
  plan(rates.quorum_restart, "restart of a node", &Faults::quorum_restart);
  plan(rates.quorum_forget, "node forgets", &Faults::quorum_forget);
  plan(rates.quorum_jump, "clock jump of a node", &Faults::quorum_jump);
  plan(rates.quorum_freeze, "frozen node", &Faults::quorum_freeze);
  plan(rates.quorum_cut, "node cut off", &Faults::quorum_cut);
  plan(rates.store_clock_jump, "store clock jump", &Faults::store_clock_jump);
  plan(rates.node_clock_change, "node clock change", &Faults::node_clock_change);
  plan(rates.operator_break, "break", &Faults::operator_break);
  if (options_.network.loss_per_mille > 0 || options_.network.slow_per_mille > 0) {
    last("a lossy network", all(), options_.faults_for, [] {});
  }
}

void Faults::heal() {
  healed_ = true;
  around_.network.heal();
  around_.servers.heal();
  if (around_.quorum != nullptr) {
    around_.quorum->heal();
  }
  while (!lasting_.empty()) {
    end(lasting_.begin()->first);
  }
}

void Faults::plan(Duration mean, const char* what, Strike strike) {
  if (mean == Duration{0}) {
    return;
  }
  around_.world.after(around_.world.random().between(Duration{0}, mean * 2),
                      [this, mean, what, strike] {
                        if (!healed_) {
                          around_.history.count(std::string{"fault: "} + what);
                          (this->*strike)();
                          plan(mean, what, strike);
                        }
                      });
}

void Faults::last(std::string what, std::vector<NodeId> nodes, Duration duration,
                  std::function<void()> undo) {
  const std::uint64_t id = ++last_id_;
  trouble(nodes, true, what);
  lasting_.emplace(id, Lasting{std::move(what), std::move(nodes), std::move(undo)});
  around_.world.after(duration, [this, id] { end(id); });
}

void Faults::end(std::uint64_t id) {
  auto node = lasting_.extract(id);
  if (!node.empty()) {
    node.mapped().undo();
    trouble(node.mapped().nodes, false, node.mapped().what);
  }
}

void Faults::trouble(const std::vector<NodeId>& nodes, bool on, const std::string& what) {
  for (const NodeId node : nodes) {
    around_.history.record(Trouble{node, on, what});
  }
}

Node& Faults::any_node() {
  return *nodes_[static_cast<std::size_t>(around_.world.random().below(nodes_.size()))];
}

std::vector<NodeId> Faults::all() const {
  std::vector<NodeId> ids;
  for (const auto& node : nodes_) {
    ids.push_back(node->id());
  }
  return ids;
}

// Now and then long, but mostly around what matters: margins, leases, and a little more.
Duration Faults::lasting(Duration longest) {
  Random& random = around_.world.random();
  const Duration usual = std::min(options_.work.ttl_max * 5 / 2, longest);
  return random.between(Duration{milliseconds{1}}, random.chance(200) ? longest : usual);
}

// ---- nodes -------------------------------------------------------------------------------------

void Faults::pause() {
  Node& node = any_node();
  if (node.up() && !node.paused()) {
    node.pause();
    last("pause", {node.id()}, lasting(options_.work.ttl_max * 5 / 2), [&node] { node.resume(); });
  }
}

void Faults::crash() {
  Node& node = any_node();
  if (node.up()) {
    node.crash();
    last("crash", {node.id()}, lasting(seconds{10}), [&node] { node.boot(); });
  }
}

// No trouble: what it held and waited for has to be gone afterwards.
void Faults::shut_down() {
  Node& node = any_node();
  node.shut_down();
  last("shutdown", {}, std::chrono::seconds{2} + lasting(seconds{10}), [&node] { node.boot(); });
}

void Faults::node_clock_change() {
  Node& node = any_node();
  Random& random = around_.world.random();
  const Duration jump =
      random.chance(200) ? random.between(Duration{0}, Duration{seconds{5}}) : Duration{0};
  node.change_clock(random.between(-options_.drift_ppm, options_.drift_ppm), jump);
  last("clock change", {node.id()}, Duration{0}, [] {});
}

// ---- the network -------------------------------------------------------------------------------

void Faults::cut() {
  const NodeId node = any_node().id();
  const std::uint64_t which = around_.world.random().below(3);  // there, back, or both
  const auto switch_to = [this, node, which](bool on) {
    around_.servers.cut(node, which != 1, which != 0, on);
  };
  switch_to(true);
  last("cut", {node}, lasting(seconds{15}), [switch_to] { switch_to(false); });
}

void Faults::clog() {
  const Place node = place_of_node(any_node().id());
  Network& network = around_.network;
  const std::array<std::pair<Place, Place>, 3> links{
      {{node, Place::store}, {Place::store, node}, {node, Place::database}}};
  const auto [from, to] = links[static_cast<std::size_t>(around_.world.random().below(3))];
  network.clog(from, to, true);
  last("clog", {static_cast<NodeId>(node)}, lasting(seconds{15}),
       [&network, from = from, to = to] { network.clog(from, to, false); });
}

// ---- the store ---------------------------------------------------------------------------------

void Faults::freeze() {
  ModelServer& server = around_.server;
  server.freeze();
  last("frozen store", all(), lasting(seconds{12}), [&server] { server.thaw(); });
}

void Faults::restart() {
  const Duration down = lasting(seconds{4});
  around_.server.restart(true, down);
  last("restart of the store", all(), down, [] {});
}

void Faults::restart_empty() {
  const Duration down = lasting(seconds{4});
  around_.server.restart(false, down);
  last("restart of the store without memory", all(), down, [] {});
}

void Faults::fail_over() {
  Random& random = around_.world.random();
  const Duration down = random.between(Duration{milliseconds{300}}, Duration{seconds{4}});
  const Duration skew = random.between(Duration{milliseconds{-100}}, Duration{milliseconds{100}});
  around_.server.fail_over(down, skew);
  last("failover", all(), down, [] {});
}

std::vector<NodeId> Faults::some() {
  std::vector<NodeId> ids;
  for (const NodeId id : all()) {
    if (around_.world.random().chance(400)) {
      ids.push_back(id);
    }
  }
  return ids;
}

// The primary is frozen, cut off with some of the nodes, or dead; after a while a replica takes
// over; later the old one is back, takes itself for the primary, and is deposed.
void Faults::lose_primary() {
  Replicas& servers = around_.servers;
  if (losing_primary_ || !servers.settled()) {
    return;
  }
  losing_primary_ = true;
  Random& random = around_.world.random();
  const Duration detected = random.between(Duration{milliseconds{300}}, Duration{seconds{3}});
  const Duration over = detected + lasting(seconds{12});
  const Duration deposed = over + random.between(Duration{0}, Duration{seconds{2}});
  ModelServer& old = servers.primary();
  switch (random.below(3)) {
    case 0:
      old.freeze();
      last("frozen primary", {}, over, [&old] { old.thaw(); });
      break;
    case 1: {
      const std::vector<NodeId> behind = some();
      servers.split(behind, options_.nodes, true);
      last("left with the old primary", behind, over,
           [this, behind] { around_.servers.split(behind, options_.nodes, false); });
      break;
    }
    default:
      old.go_down(over);
      last("dead primary", {}, over, [&old, empty = random.chance(500)] {
        if (empty && old.deposed()) {
          old.forget();
        }
      });
  }
  const ServerOptions& server = options_.server;
  const bool scarce = server.acks + server.min_replicas > 0;
  last(scarce ? "too few replicas" : "no primary", all(), scarce ? deposed : detected, [] {});
  around_.world.after(detected, [this] {
    if (!healed_) {
      around_.servers.promote();
    }
  });
  around_.world.after(deposed, [this] {
    losing_primary_ = false;
    if (!healed_) {
      around_.servers.depose_others();
    }
  });
}

void Faults::store_clock_jump() {
  Random& random = around_.world.random();
  const Duration by = random.between(Duration{seconds{-4}}, Duration{seconds{8}});
  around_.server.jump_clock(by);
  last("store clock jump", all(), Duration{0}, [] {});
}

void Faults::operator_break() {
  Random& random = around_.world.random();
  const std::vector<NamePlan>& names = options_.work.names;
  const NamePlan& plan = names[static_cast<std::size_t>(random.below(names.size()))];
  around_.server.operator_breaks(plan.name,
                                 random.chance(500) ? BreakMode::now : BreakMode::ask_holder);
}

}  // namespace holdfast::sim

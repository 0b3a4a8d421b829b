#include "sim/universe.hpp"

#include "sim/checkers/checkers.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration look_every = milliseconds{250};
// A request that hangs (2 s), the way back to a connection, a pause between tries, and some more.
constexpr Duration recovery_max = milliseconds{3500};
constexpr std::uint64_t steps_at_once_max = 20'000;
// Everybody once more for every name, behind what crashed or abandoned leases left.
constexpr Duration wind_down_max = seconds{300};

ServerOptions with_drift(ServerOptions server, Random& random, std::int64_t drift_ppm) {
  server.drift_ppm = random.between(-drift_ppm, drift_ppm);
  return server;
}

}  // namespace

Universe::Universe(Options the_options)
    : options(std::move(the_options)),
      world(options.seed),
      network(world, options.network),
      history(world),
      server(world, network, history,
             with_drift(options.server, world.random(), options.drift_ppm)),
      servers(world, network, history, server, options.server),
      quorum(options.quorum.nodes == 0
                 ? nullptr
                 : std::make_unique<Quorum>(world, network, history, options.quorum,
                                            options.drift_ppm)),
      database(network, history),
      around{world, network, history, server, servers, quorum.get(), database},
      faults(around, options, nodes) {
  add_checkers();
  for (NodeId id = 0; id < options.nodes; ++id) {
    const std::int64_t drift = world.random().between(-options.drift_ppm, options.drift_ppm);
    nodes.push_back(std::make_unique<Node>(around, options, id, drift));
  }
}

// What only one store can promise: records of its own, in one place, and a queue.
void Universe::add_store_checkers() {
  history.add(make_company_checker());
  history.add(make_next_checker());
  history.add(make_record_checker());
  history.add(make_order_checker());
  history.add(make_fence_checker());
}

void Universe::add_checkers() {
  const Duration late = options.lateness * 2 + milliseconds{1};
  history.add(make_exclusion_checker());
  history.add(make_window_checker());
  if (quorum) {
    if (!options.quorum.one_round) {  // that is known to be wrong
      history.add(make_quorum_fence_checker());
    }
  } else {
    add_store_checkers();
  }
  history.add(make_permit_checker());
  history.add(make_floor_checker());
  history.add(make_run_checker());
  history.add(make_value_checker());
  history.add(make_group_checker());
  history.add(make_guard_checker());
  history.add(make_silence_checker());
  history.add(make_leftover_checker(recovery_max));
  history.add(make_loss_checker(late));
  history.add(make_needless_loss_checker(recovery_max));
  // There and back, and what of the answer is about others may wait for replicas.
  history.add(
      make_told_checker(options.network.latency_max * 2 + late +
                        (options.server.acks > 0 ? options.server.acks_timeout * 2 : Duration{0})));
  history.add(make_deadline_checker(late));
  history.add(make_progress_checker());
}

void Universe::look_at_store() {
  if (quorum) {
    quorum->look();
  } else if (servers.primary().up()) {
    servers.primary().look();
  }
  world.after(look_every, [this] { look_at_store(); });
}

void Universe::play() {
  world.note(text(options));
  look_at_store();
  for (const auto& node : nodes) {
    node->run_tasks();
  }
  faults.begin();
  advance(world.now() + options.faults_for, false);
  if (history.objected()) {
    return;
  }
  faults.heal();
  history.record(Healed{});
  for (const auto& node : nodes) {
    node->wind_down();
  }
  advance(world.now() + wind_down_max, true);
  if (!history.objected()) {
    finish();
  }
}

bool Universe::all_done() const {
  return std::ranges::all_of(nodes, [](const auto& node) { return node->done(); });
}

void Universe::advance(WorldTime end, bool until_done) {
  WorldTime instant = world.now();
  std::uint64_t steps_before = world.steps();
  while (!history.objected() && !(until_done && all_done()) && world.step(end)) {
    if (world.now() != instant) {
      instant = world.now();
      steps_before = world.steps();
    } else if (world.steps() - steps_before > steps_at_once_max) {
      history.record(Stuck{});
    }
  }
}

}  // namespace holdfast::sim

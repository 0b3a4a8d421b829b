// One world put together: nodes, network, store, databases, faults, checkers. Directed scenarios
// build one and do with it what they like; run() below plays the two phases of a seed.
#pragma once

#include "sim/database.hpp"
#include "sim/faults.hpp"
#include "sim/history.hpp"
#include "sim/model_server.hpp"
#include "sim/network.hpp"
#include "sim/node.hpp"
#include "sim/options.hpp"
#include "sim/quorum_store.hpp"
#include "sim/replicas.hpp"
#include "sim/world.hpp"

#include <memory>
#include <vector>

namespace holdfast::sim {

class Universe {
 public:
  explicit Universe(Options options);
  Universe(const Universe&) = delete;
  Universe& operator=(const Universe&) = delete;
  ~Universe() = default;

  // Phase one: tasks on every node, faults on, nothing may go wrong. Phase two: no more faults,
  // everything must make progress. Ends early once a checker has objected.
  void play();
  void run_for(Duration time) { world.run_until(world.now() + time); }
  void finish() { history.record(Finished{}); }

  const Options options;
  World world;
  Network network;
  History history;
  ModelServer server;  // the store, or the first of its servers
  Replicas servers;
  std::unique_ptr<Quorum> quorum;  // or null: `servers` are the store
  Database database;
  Surroundings around;
  std::vector<std::unique_ptr<Node>> nodes{};
  Faults faults;

 private:
  void add_checkers();
  void add_store_checkers();
  void look_at_store();
  bool all_done() const;
  // Runs to `end`, or until a checker objects or, with `until_done`, all is done.
  void advance(WorldTime end, bool until_done);
};

}  // namespace holdfast::sim

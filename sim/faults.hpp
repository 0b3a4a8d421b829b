// What goes wrong in a world, when, and for how long. Each fault that lasts is trouble for the
// nodes that it touches, which some checkers make allowance for.
#pragma once

#include "sim/locker.hpp"
#include "sim/node.hpp"
#include "sim/options.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::sim {

class Faults {
 public:
  Faults(Surroundings& around, const Options& options, std::vector<std::unique_ptr<Node>>& nodes);
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  ~Faults() = default;

  void begin();
  // Ends every fault at once, and there are no more.
  void heal();

 private:
  using Strike = void (Faults::*)();

  void plan(Duration mean, const char* what, Strike strike);
  // Something that lasts: trouble for `nodes` until `undo` was called, after `duration`.
  void last(std::string what, std::vector<NodeId> nodes, Duration duration,
            std::function<void()> undo);
  void end(std::uint64_t id);
  void trouble(const std::vector<NodeId>& nodes, bool on, const std::string& what);

  void pause();
  void crash();
  void shut_down();
  void cut();
  void clog();
  void freeze();
  void restart();
  void restart_empty();
  void fail_over();
  void lose_primary();
  void quorum_restart();
  void quorum_forget();
  void quorum_jump();
  void quorum_freeze();
  void quorum_cut();
  QuorumNode& any_quorum_node();
  void store_clock_jump();
  void node_clock_change();
  void operator_break();

  Node& any_node();
  std::vector<NodeId> all() const;
  Duration lasting(Duration longest);
  std::vector<NodeId> some();

  struct Lasting {
    std::string what{};
    std::vector<NodeId> nodes{};
    std::function<void()> undo{};
  };

  Surroundings& around_;
  const Options& options_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  bool healed_ = false;
  bool losing_primary_ = false;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Lasting> lasting_{};
};

}  // namespace holdfast::sim

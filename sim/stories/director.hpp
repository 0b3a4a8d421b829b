// Lets the faults of an experiment strike, each once, at its moment.
#pragma once

#include "sim/stories/plain_server.hpp"
#include "sim/stories/trial.hpp"
#include "sim/timeline/recorder.hpp"
#include "sim/universe.hpp"

#include <functional>
#include <string>
#include <vector>

namespace holdfast::sim {

class Director {
 public:
  // `crash` kills a node's process and `start` starts it again. All references outlive it.
  Director(const Trial& trial, Universe& universe, PlainServer& plain, Recorder& recorder,
           std::function<void(NodeId)> crash, std::function<void(NodeId)> start);
  Director(const Director&) = delete;
  Director& operator=(const Director&) = delete;
  ~Director() = default;

  void begin();
  void reached(NodeId node, Moment moment);
  // Everything that will strike has struck and is over, as far as it ends by itself.
  bool done() const noexcept { return lasting_ == 0; }

 private:
  struct Fault {
    Moment moment = Moment::any;
    std::uint64_t countdown = 1;  // strikes when its moment comes for this time
    void (Director::*strike)(NodeId node) = nullptr;
  };

  void arm(bool wanted, Moment moment, void (Director::*strike)(NodeId));
  void after(Duration delay, std::function<void()> event);
  void trouble(const std::vector<NodeId>& nodes, const std::string& what, Duration duration,
               std::function<void()> undo);
  std::vector<NodeId> all() const;
  void cut_off(NodeId node, Duration duration);

  void pause(NodeId node);
  void crash(NodeId node);
  void cut(NodeId node);
  void delay_write(NodeId node);
  void fail_over(NodeId node);
  void leave_behind(NodeId node);
  void kill_nodes();
  void spoil_node(NodeId node);
  void jump_store_clock(NodeId node);
  void jump_node_clock(NodeId node);

  const Trial& trial_;
  Universe& universe_;
  PlainServer& plain_;
  Recorder& recorder_;
  std::function<void(NodeId)> crash_;
  std::function<void(NodeId)> start_;
  std::vector<Fault> faults_{};
  std::size_t lasting_ = 0;
};

}  // namespace holdfast::sim

// A world in which a test says what happens, one line a step. All checkers listen.
//
//   Stage stage;
//   const auto lease = stage.acquire(0, {.name = "n"});  // node 0; runs until it is answered
//   stage.node(0).pause();
//   stage.run_for(20s);
//   stage.expect_clean();
#pragma once

#include "sim/universe.hpp"

#include <gtest/gtest.h>
#include <holdfast/error.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

using namespace std::chrono_literals;

class Stage {
 public:
  // What a wait came to; shared, since it is known only later.
  struct Wait {
    AttemptId attempt = 0;
    std::optional<std::error_code> code{};  // unset: still waiting; empty: granted
    LeasePtr lease{};
    bool waiting() const { return !code; }
    bool granted() const { return code && !*code; }
  };
  using WaitPtr = std::shared_ptr<Wait>;

  explicit Stage(std::size_t nodes = 3, Options options = {}) {
    options.nodes = nodes;
    if (options.network.latency_max == NetworkOptions{}.latency_max) {
      options.network.latency_min = options.network.latency_max = 1ms;
    }
    universe_ = std::make_unique<Universe>(options);
  }

  Universe& universe() { return *universe_; }
  Node& node(NodeId id) { return *universe_->nodes.at(id); }
  Locker& locker(NodeId id) { return node(id).locker(); }
  ModelServer& store() { return universe_->server; }
  Replicas& servers() { return universe_->servers; }
  Network& network() { return universe_->network; }
  void run_for(Duration time) { universe_->run_for(time); }
  Duration now() const { return universe_->world.now().time_since_epoch(); }

  WaitPtr start(NodeId id, const LockerWait& wait) {
    auto result = std::make_shared<Wait>();
    result->attempt = locker(id).acquire(wait, [result](LeasePtr lease, std::error_code code) {
      result->code = code;
      result->lease = std::move(lease);
    });
    return result;
  }
  // Runs until the wait is answered; fails the test if that takes an hour.
  WaitPtr finish(WaitPtr wait) {
    for (int minutes = 0; wait->waiting() && minutes < 60 * 600; ++minutes) {
      run_for(100ms);
    }
    EXPECT_FALSE(wait->waiting()) << "no answer within an hour";
    return wait;
  }
  LeasePtr acquire(NodeId id, const LockerWait& wait) {
    const WaitPtr done = finish(start(id, wait));
    EXPECT_TRUE(done->granted()) << done->code.value_or(std::error_code{}).message();
    return done->lease;
  }
  // Both directions between a node and the store.
  void cut(NodeId id, bool on) {
    network().cut(place_of_node(id), Place::store, on);
    network().cut(Place::store, place_of_node(id), on);
    trouble(id, on, "cut");
  }
  void freeze(bool on) {
    on ? store().freeze() : store().thaw();
    for (const auto& each : universe_->nodes) {
      trouble(each->id(), on, "frozen store");
    }
  }
  // The primary and the nodes `behind` on one side, everybody else on the other.
  void split(const std::vector<NodeId>& behind, bool on) {
    servers().split(behind, universe_->nodes.size(), on);
    for (const auto& each : universe_->nodes) {
      trouble(each->id(), on, "split");
    }
  }
  void trouble(NodeId id, bool on, const std::string& what) {
    universe_->history.record(Trouble{id, on, what});
  }

  static bool held(const LeasePtr& lease) {
    return lease->phase.load() == detail::LeasePhase::held;
  }
  static bool lost(const LeasePtr& lease) {
    return lease->phase.load() == detail::LeasePhase::lost;
  }
  std::uint64_t count(const std::string& what) const {
    const auto counts = universe_->history.counts();
    const auto found = counts.find(what);
    return found == counts.end() ? 0 : found->second;
  }
  void expect_clean() const {
    for (const Violation& violation : universe_->history.violations()) {
      ADD_FAILURE() << violation.checker << ": " << violation.what;
    }
  }

 private:
  std::unique_ptr<Universe> universe_{};
};

inline constexpr const char* landed = "stale writes that landed without a guard";
inline constexpr const char* refused = "stale writes refused by a guard";

}  // namespace holdfast::sim

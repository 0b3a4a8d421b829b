// A key-value server as people use one to build locks by hand: single commands, keys that expire on
// the server's own clock, a replica that lags behind. It serves the wrong protocols only.
#pragma once

#include "sim/clock.hpp"
#include "sim/network.hpp"
#include "sim/timeline/recorder.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::sim {

class PlainServer {
 public:
  // `replica_lag`: zero means that there is no replica.
  PlainServer(World& world, Network& network, Recorder& recorder, std::int64_t drift_ppm,
              Duration replica_lag);
  PlainServer(const PlainServer&) = delete;
  PlainServer& operator=(const PlainServer&) = delete;
  ~PlainServer() = default;

  // Sends a command from a node; `answered` is called by the network, if ever, with its result.
  using Command = std::function<std::int64_t(PlainServer&)>;
  void send(NodeId node, Command command, std::function<void(std::int64_t)> answered);

  // ---- commands: 1 for done, 0 for not ----
  std::int64_t set_if_absent(const OwnerId& owner, Duration ttl);  // zero: the key never expires
  std::int64_t expire(Duration ttl);                               // whoever's key it is
  std::int64_t remove(const OwnerId& by);                          // whoever's key it is
  std::int64_t remove_own(const OwnerId& owner);
  std::int64_t increment();  // the next number

  // ---- what happens to servers ----
  void fail_over(Duration down);  // the replica is the server now, without what had not reached it
  void jump_clock(Duration by);

 private:
  struct Entry {
    OwnerId owner{};
    std::optional<Instant> ends{};  // unset: never
  };
  struct State {
    std::optional<Entry> lock{};
    std::int64_t counter = 0;
  };

  bool held();
  void record_end();
  void replicate(Duration lag);

  World& world_;
  Network& network_;
  Recorder& recorder_;
  SimClock clock_;
  State state_{};
  std::shared_ptr<const State> replica_ = std::make_shared<State>();
  bool up_ = true;
};

}  // namespace holdfast::sim

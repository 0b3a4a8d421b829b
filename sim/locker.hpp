// A process that locks: the engine on a node's runtime, its stores, and what the public classes do
// around it (src/engine/client_core), without threads. Everything it does becomes facts.
#pragma once

#include "engine/engine.hpp"
#include "sim/database.hpp"
#include "sim/history.hpp"
#include "sim/model_server.hpp"
#include "sim/model_store.hpp"
#include "sim/network.hpp"
#include "sim/quorum_store.hpp"
#include "sim/replicas.hpp"
#include "sim/runtime.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim {

using LeasePtr = std::shared_ptr<detail::LeaseState>;

// What all nodes of a world share.
struct Surroundings {
  World& world;
  Network& network;
  History& history;
  ModelServer& server;  // the one, or the first of several
  Replicas& servers;
  Quorum* quorum;  // in place of the others, if it is not null
  Database& database;
  std::uint64_t next_client_id = 1;
  AttemptId next_attempt = 1;
};

struct LockerWait {
  std::string name{};
  LeaseOptions options{};
  std::optional<Duration> timeout{};  // unset: for ever; zero: one attempt
  bool lane_first = false;  // as blocking calls do: the first request on a lane's connection
  Use use{};
  std::string value{};  // that the record is to bear
};

// Several names at once, all or none.
struct LockerGroupWait {
  std::vector<std::string> names{};  // they differ
  LeaseOptions options{};
  std::optional<Duration> timeout{};
  bool at_once = true;  // false: as on a store that grants them one after the other
};

class Locker final : public detail::EngineSink {
 public:
  Locker(Surroundings& around, NodeId node, SimClock& clock, SimRuntime& runtime);
  ~Locker() override = default;

  // `done` gets the lease, or null and why not. Never from inside this call.
  using WaitHandler = std::function<void(LeasePtr, std::error_code)>;
  AttemptId acquire(const LockerWait& wait, WaitHandler done);
  // `done` gets all leases, in the order of their names, or none and why not.
  using GroupHandler = std::function<void(std::vector<LeasePtr>, std::error_code)>;
  AttemptId acquire_all(const LockerGroupWait& wait, GroupHandler done);
  void cancel(AttemptId attempt);

  void release(const LeasePtr& lease, bool on_lane = false);
  // The run that the lease is for is done: releases, and has it marked so for `remember`.
  void complete(const LeasePtr& lease, Duration remember, bool on_lane = false);
  void fail(const LeasePtr& lease, bool on_lane = false);  // the run is not done
  // From exclusive to shared. The holder counts as a reader from here on, whenever the store hears
  // of it.
  void downgrade(const LeasePtr& lease);
  void proclaim(const LeasePtr& lease, std::string value);
  void abandon(const LeasePtr& lease);
  bool valid(const LeasePtr& lease) const { return lease->valid(runtime_.now()); }
  // Sends a write to the database, without asking valid(): that is the caller's to do, earlier.
  // `answered` is called once the database has answered, if it ever does.
  void write(const LeasePtr& lease, std::function<void()> answered = {});

  // As Client::close(): gives everything back, then calls `closed`. Nothing else is told
  // and no other call may follow.
  void close(std::function<void()> closed);

  // Told after the facts are recorded.
  void when_lost(std::function<void(const LeasePtr&)> handler) { lost_ = std::move(handler); }
  bool idle() const;     // nothing held, nothing waited for, nothing to clean up
  void look();           // records trust windows that moved; call it after every callback
  void clock_changed();  // every trust window and deadline has moved

  NodeId node() const noexcept { return node_; }
  SimRuntime& runtime() noexcept { return runtime_; }
  detail::Engine& engine() noexcept { return engine_; }

  void on_event(Event event) override;
  void on_lost(const LeasePtr& lease) override;

 private:
  struct Running {  // one wait
    AttemptId attempt = 0;
    OwnerId owner{};
    std::optional<Instant> due{};  // when the answer is due
    LockerWait wait{};
    WaitHandler done{};
    std::optional<AcquireMachine> on_lane{};  // while its first request is on the lane
    Runtime::TimerId timer = 0;
  };
  struct Held {
    LeasePtr lease{};
    AttemptId attempt = 0;
    Instant last_trust{};
    bool fixed = false;     // not renewed
    Claim claim{};          // as it is to be now
    bool amending = false;  // the store has been asked to, or will be again
  };

  std::unique_ptr<Store> open_store(bool listens);
  struct RunningGroup {
    AttemptId attempt = 0;
    std::optional<Instant> due{};
    LeaseOptions options{};
    GroupHandler done{};
  };
  Claim make_claim(const LockerWait& wait, AttemptId attempt);
  void ask_on_lane(const std::shared_ptr<Running>& running);
  void leave_lane(const std::shared_ptr<Running>& running, AcquireAction action);
  void hand_to_engine(const std::shared_ptr<Running>& running, AcquireMachine machine,
                      AcquireAction action);
  void finish(const std::shared_ptr<Running>& running, const AcquireMachine& ended);
  bool cancel_group(AttemptId attempt);
  void finish_group(const RunningGroup& group, const AcquireAllMachine& ended);
  LeasePtr hold(AttemptId attempt, const LeaseOptions& options, const Claim& claim,
                const AcquireResult& granted);
  void given_back_while_closing(const LeasePtr& lease);
  void end_when_idle(std::function<void()> closed);
  void record_trust(const Held& held);
  void send_release(const LeasePtr& lease, bool on_lane);
  void withdraw(Store& store, const Claim& claim, WithdrawOptions options);
  void amend(Held& held);
  void on_amended(const Claim& asked, const AmendReply& reply);

  Surroundings& around_;
  NodeId node_;
  SimClock& clock_;
  SimRuntime& runtime_;
  std::uint64_t client_id_;
  std::function<void(const LeasePtr&)> lost_{};
  bool closing_ = false;
  std::map<AttemptId, std::shared_ptr<Running>> running_{};
  std::map<AttemptId, std::shared_ptr<RunningGroup>> groups_{};
  std::map<OwnerId, Held> held_{};
  std::size_t withdrawing_ = 0;  // releases that go past the engine and were not answered yet
  std::shared_ptr<Locker*> self_ = std::make_shared<Locker*>(this);
  std::unique_ptr<Store> lane_;
  detail::Engine engine_;  // last: its handlers refer to what is above
};

}  // namespace holdfast::sim

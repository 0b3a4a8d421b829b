// The node's side of a model store: one connection that is made, breaks and is made again, requests
// that time out with an unknown outcome, wake-ups, doubt. What every real driver does, over the
// simulated network.
#pragma once

#include "sim/history.hpp"
#include "sim/model_protocol.hpp"
#include "sim/model_server.hpp"
#include "sim/network.hpp"
#include "sim/replicas.hpp"

#include <holdfast/store.hpp>

#include <map>
#include <memory>

namespace holdfast::sim {

struct ModelStoreOptions {
  NodeId node = 0;
  std::uint64_t client_id = 0;  // another one for each life of each node
  bool listens = true;          // false: a lane's store, which hears no wake-ups
  Duration op_timeout = std::chrono::seconds{2};
};

class ModelStore final : public Store, private ConnectionEnd, private Follower {
 public:
  ModelStore(World& world, Network& network, Replicas& servers, History& history, Runtime& runtime,
             ModelStoreOptions options);
  ~ModelStore() override;

  Capabilities capabilities() const override;
  void acquire(const Claim& claim, Queueing queueing,
               UniqueFunction<void(AcquireReply)> done) override;
  void acquire_all(std::span<const Claim> claims,
                   UniqueFunction<void(AcquireAllReply)> done) override;
  void renew(std::span<const Claim> claims,
             UniqueFunction<void(std::vector<RenewReply>)> done) override;
  void amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) override;
  void withdraw(const Claim& claim, WithdrawOptions options,
                UniqueFunction<void(WithdrawReply)> done) override;
  void listen(UniqueFunction<void(const StoreEvent&)> listener) override;
  void inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) override;
  void list(const std::string& prefix, const std::string& cursor,
            UniqueFunction<void(ListReply)> done) override;
  void break_name(const std::string& name, BreakMode mode,
                  UniqueFunction<void(BreakReply)> done) override;
  void diagnose(UniqueFunction<void(std::vector<Finding>)> done) override;
  void close() noexcept override;

 private:
  struct Pending {
    Request request{};
    UniqueFunction<void(Answer)> done{};
    Runtime::TimerId timer = 0;
    bool sent = false;
  };
  enum class State : std::uint8_t { idle, connecting, connected, closed };

  void accepted() override;
  void refused() override;
  void reset() override;
  void answered(std::uint64_t request, Answer answer) override;
  void told(StoreEvent event) override;

  NodeId node() const override { return options_.node; }
  void primary_switched() override;

  void record(Verb verb, const Claim& claim);
  void start(Request request, UniqueFunction<void(Answer)> done);
  void transmit(std::uint64_t id, Pending& pending);
  void connect();
  void connect_later();
  // `at_once`: else another one is made after a while.
  void break_connection(bool at_once = false);
  void timed_out(std::uint64_t id);
  void finish(std::uint64_t id, Answer answer);
  // Runs `event` on the node if by then this connection is still the one.
  void on_node(UniqueFunction<void()> event);

  World& world_;
  Network& network_;
  Replicas& servers_;
  ModelServer* server_;  // of the connection
  History& history_;
  Runtime& runtime_;
  ModelStoreOptions options_;
  State state_ = State::idle;
  bool was_connected_ = false;
  std::uint64_t last_id_ = 0;
  Runtime::TimerId connect_timer_ = 0;
  std::map<std::uint64_t, Pending> pending_{};
  std::shared_ptr<Connection> connection_{};
  UniqueFunction<void(const StoreEvent&)> listener_{};
};

}  // namespace holdfast::sim

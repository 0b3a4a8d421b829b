// The store's side of a model store: a LockTable on a clock of its own, with a replica that lags
// behind, and everything that can happen to a server.
#pragma once

#include "sim/clock.hpp"
#include "sim/history.hpp"
#include "sim/model_protocol.hpp"
#include "sim/network.hpp"
#include "store/memory/lock_table.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

struct ServerOptions {
  std::int64_t drift_ppm = 0;
  Duration replication_lag{};  // how far behind the replica is; zero: there is none
  int wake_lost_per_mille = 0;
  int wake_late_per_mille = 0;
  int wake_doubled_per_mille = 0;
  std::size_t replicas = 0;  // servers that can take over while this one lives on
  // So many of them must have a grant or a renewal before it is answered, or it is a shortfall.
  std::size_t acks = 0;
  Duration acks_timeout = std::chrono::milliseconds{500};
  // So many of them must have been heard of lately, or nothing is changed.
  std::size_t min_replicas = 0;
  Duration min_replicas_max_lag = std::chrono::seconds{1};
  Duration skew{};   // how far apart the clocks of the servers may be
  Duration ahead{};  // of true time, at first
};

class ModelServer {
 public:
  ModelServer(World& world, Network& network, History& history, ServerOptions options,
              Place place = Place::store);
  ModelServer(const ModelServer&) = delete;
  ModelServer& operator=(const ModelServer&) = delete;
  ~ModelServer() = default;

  std::uint64_t next_connection_id() noexcept { return ++last_connection_id_; }

  // ---- the network calls these ----
  void connect(std::shared_ptr<Connection> connection);
  void receive(std::shared_ptr<Connection> connection, std::uint64_t id, Request request);

  // ---- what happens to servers ----
  void freeze();  // as SIGSTOP: sockets take in what arrives, nothing is executed
  void thaw();    // all of it is executed now, even for clients that closed long ago
  void restart(bool keep_memory, Duration down);
  // The replica becomes the server, without what had not reached it; its clock is `skew` ahead.
  void fail_over(Duration down, Duration skew);
  void jump_clock(Duration by);
  void operator_breaks(const std::string& name, BreakMode mode);
  void go_down(Duration down);  // as kill -9; its memory is there when it comes back
  void heal();                  // up, not frozen, no more wake-ups lost, late or doubled

  // ---- replication: sim/replicas ----
  struct State {
    LockTable table{};
    std::map<OwnerId, StoreQueued> beats{};
  };
  struct Snapshot {
    std::size_t reign = 0;
    std::uint64_t offset = 0;
    std::shared_ptr<const State> state{};
  };
  bool leads() const noexcept { return leads_; }  // takes itself for the primary
  std::size_t reign() const noexcept { return reign_; }
  bool deposed() const noexcept { return leads_ && reign_ < history_.reign(); }
  std::uint64_t offset() const noexcept { return offset_; }
  Snapshot snapshot() const;
  bool take(const Snapshot& snapshot);  // as a replica; false: it does not
  void acknowledged(Place replica, std::uint64_t offset);
  // Becomes the primary of reign `reign`, as which it knows what has reached it of `before`.
  void promote(const ModelServer& before, std::size_t reign);
  void follow();  // is a replica from now on
  void forget();  // as after a restart without memory

  // Records StoreHas for everything that is in the store now.
  void look();
  const SimClock& clock() const noexcept { return clock_; }
  bool up() const noexcept { return up_; }
  bool frozen() const noexcept { return frozen_; }
  Place place() const noexcept { return place_; }

 private:
  struct Owed {  // an answer that waits for replicas
    std::uint64_t offset = 0;
    std::shared_ptr<Connection> connection{};
    std::uint64_t id = 0;
    Answer answer{};
    std::vector<OwnerId> owners{};  // of the claims that it answers
  };

  void record(const Fact& fact) { history_.record(fact, reign_); }
  LockTable::Reading reading() const;
  void execute(const std::shared_ptr<Connection>& connection, std::uint64_t id, Request request);
  Answer run(const Request& request, const Connection& connection);
  Answer run(const AcquireRequest& request, LockTable::Reading at);
  Answer run(const AcquireAllRequest& request, LockTable::Reading at);
  Answer run(const RenewRequest& request, LockTable::Reading at);
  Answer run(const AmendRequest& request, LockTable::Reading at);
  Answer run(const WithdrawRequest& request, LockTable::Reading at);
  Answer run(const BreakRequest& request, LockTable::Reading at);
  Answer run(const InspectRequest& request, LockTable::Reading at) const;
  Answer run(const ListRequest& request, LockTable::Reading at) const;

  // Records what a step did and tells whom it concerns. `granted`: to whoever asked.
  void tell(const LockTable::Notices& notices, const std::optional<StoreGranted>& granted = {});
  void record_grant(StoreGranted granted);
  // Records what became of a name. `served`: the step served its queue.
  void record_state(const std::string& name, bool served);
  void record_ends(const NameView& view);
  void record_stand(const NameView& view);
  void send_wake(const OwnerId& owner, const StoreEvent& event);
  void reply(const std::shared_ptr<Connection>& connection, void (ConnectionEnd::*what)());
  void replicate();
  void send_answer(Owed owed);
  bool enough_replicas() const;
  bool must_be_acknowledged(const Request& request, const Answer& answer) const;
  std::size_t replicas_with(std::uint64_t offset) const;
  void send_acknowledged();
  void give_up_on_replicas(std::uint64_t number);
  void own_up(const Request& request);
  // Whether, for what was promised in `before`, the state is as good.
  bool is_kept(const Holder& had, const NameView* has) const;
  std::vector<OwnerId> lost_by_promotion(const ModelServer& before);
  // Records what `before` had and the state has not, or not for as long. `shortened`: the places
  // in the queues too.
  struct Sight {
    Instant at{};
    std::vector<NameView> names{};
  };
  void record_loss(std::string why, const Sight& before, bool replaced, bool shortened);
  Sight everything() const;
  std::vector<OwnerId> gone_since(const std::vector<NameView>& before) const;  // their records

  World& world_;
  Network& network_;
  History& history_;
  ServerOptions options_;
  Place place_;
  SimClock clock_;
  State state_{};
  std::shared_ptr<const State> replica_ = std::make_shared<State>();

  std::uint64_t last_connection_id_ = 0;
  std::uint64_t life_ = 1;
  bool up_ = true;
  bool frozen_ = false;
  std::deque<std::pair<std::shared_ptr<Connection>, UniqueFunction<void()>>> sockets_{};
  std::map<std::uint64_t, std::shared_ptr<Connection>> listeners_{};  // by client_id
  std::map<OwnerId, std::uint64_t> homes_{};                          // the client of an owner
  // What was recorded last.
  std::map<OwnerId, Fence> last_grants_{};
  std::map<std::string, std::map<OwnerId, WorldTime>> last_ends_{};
  std::map<std::string, StoreStands> last_stands_{};
  Fence greatest_ = Fence::none;
  Fence forgotten_ = Fence::none;  // the greatest fence that may be missing from the state

  bool leads_ = true;
  std::size_t reign_ = 0;
  std::uint64_t offset_ = 0;  // how many changes the state has seen
  struct Ack {
    std::uint64_t offset = 0;
    WorldTime at{};
  };
  std::map<Place, Ack> acks_{};
  std::uint64_t last_owed_ = 0;
  std::map<std::uint64_t, Owed> owed_{};
  std::set<OwnerId> unconfirmed_{};  // were handed a name, and it is not known that replicas know
};

}  // namespace holdfast::sim

// Several servers that are one store: a primary, replicas that it feeds without waiting for them,
// and sentinels that make a replica the primary when they do not see the old one. That one may
// only be frozen, or cut off with some clients on its side; then there are two who take themselves
// for the primary until the sentinels reach the old one and depose it.
//
//   a fault strikes the primary -> promote() -> the fault ends -> depose()
//
// Without replicas it is the one server.
#pragma once

#include "sim/model_server.hpp"
#include "sim/network.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::sim {

// A client that follows the primary by the sentinels' word.
class Follower {
 public:
  Follower() = default;
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  virtual ~Follower() = default;
  virtual NodeId node() const = 0;
  virtual void primary_switched() = 0;  // called by the network
};

class Replicas {
 public:
  // `first` is the primary at first; both outlive it.
  Replicas(World& world, Network& network, History& history, ModelServer& first,
           const ServerOptions& options);
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;
  ~Replicas() = default;

  // ---- clients ----
  ModelServer& named_for(NodeId node);  // the primary, by the sentinels that this node reaches
  std::uint64_t next_connection_id() noexcept { return servers_.front()->next_connection_id(); }
  void add(Follower& follower) { followers_.push_back(&follower); }
  void remove(Follower& follower) { std::erase(followers_, &follower); }

  // ---- what happens ----
  ModelServer& primary() { return *servers_[primary_]; }
  bool any() const noexcept { return servers_.size() > 1; }
  bool settled() const;  // one leads, and all others follow it
  // The replica that knows most becomes the primary, and whoever the sentinels reach is told.
  void promote();
  void depose_others();  // the sentinels make all but the primary its replicas
  // Everything between the primary, with the nodes `minority`, and the rest of the world.
  void split(const std::vector<NodeId>& minority, std::size_t nodes, bool on);
  // `node` to all servers, or from them.
  void cut(NodeId node, bool to, bool from, bool on);
  void heal();

 private:
  void replicate();
  void feed(ModelServer& from, ModelServer& to);
  void tell(NodeId node);
  void tell_all();

  World& world_;
  Network& network_;
  History& history_;
  ServerOptions options_;
  std::vector<std::unique_ptr<ModelServer>> owned_{};
  std::vector<ModelServer*> servers_{};
  std::size_t primary_ = 0;
  std::size_t split_from_ = 0;  // the primary at the time of the split
  std::map<NodeId, std::size_t> named_{};
  struct Fed {
    std::uint64_t offset = 0;
    std::size_t reign = 0;
    WorldTime at{};
  };
  std::map<std::pair<Place, Place>, Fed> fed_{};
  std::vector<Follower*> followers_{};
};

}  // namespace holdfast::sim

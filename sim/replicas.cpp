#include "sim/replicas.hpp"

#include <algorithm>
#include <set>

namespace holdfast::sim {

namespace {

constexpr Duration heartbeat = std::chrono::milliseconds{200};
constexpr std::int64_t drift_limit_ppm = 20;  // servers that agree on the time, more or less

}  // namespace

Replicas::Replicas(World& world, Network& network, History& history, ModelServer& first,
                   const ServerOptions& options)
    : world_(world), network_(network), history_(history), options_(options) {
  servers_.push_back(&first);
  for (std::size_t i = 1; i <= options_.replicas; ++i) {
    ServerOptions another = options_;
    another.ahead = world_.random().between(-options_.skew / 2, options_.skew / 2);
    another.drift_ppm = world_.random().between(-drift_limit_ppm, drift_limit_ppm);
    owned_.push_back(
        std::make_unique<ModelServer>(world_, network_, history_, another, place_of_server(i)));
    owned_.back()->follow();
    servers_.push_back(owned_.back().get());
  }
  if (any()) {
    replicate();
  }
}

// ---- clients -----------------------------------------------------------------------------------

ModelServer& Replicas::named_for(NodeId node) {
  std::size_t& known = named_[node];
  if (!network_.is_cut(Place::sentinels, place_of_node(node))) {
    known = primary_;
  }
  return *servers_[known];
}

void Replicas::tell(NodeId node) {
  network_.send(Place::sentinels, place_of_node(node), 0, [this, node] {
    const std::vector<Follower*> followers = followers_;
    for (Follower* follower : followers) {
      if (follower->node() == node) {
        follower->primary_switched();
      }
    }
  });
}

// ---- replication -------------------------------------------------------------------------------

void Replicas::replicate() {
  for (ModelServer* from : servers_) {
    for (ModelServer* to : servers_) {
      if (from != to && from->leads() && from->up() && !from->frozen()) {
        feed(*from, *to);
      }
    }
  }
  world_.after(options_.replication_lag, [this] { replicate(); });
}

void Replicas::feed(ModelServer& from, ModelServer& to) {
  Fed& fed = fed_[{from.place(), to.place()}];
  const bool news = fed.offset != from.offset() || fed.reign != from.reign();
  if (!news && world_.now() - fed.at < heartbeat) {
    return;
  }
  fed.at = world_.now();
  network_.send(from.place(), to.place(), 0, [this, &from, &to, copy = from.snapshot()] {
    if (!to.take(copy)) {
      return;
    }
    network_.send(to.place(), from.place(), 0,
                  [this, &from, &to, offset = copy.offset, reign = copy.reign] {
                    if (from.reign() == reign) {
                      fed_[{from.place(), to.place()}].offset = offset;
                      fed_[{from.place(), to.place()}].reign = reign;
                      from.acknowledged(to.place(), offset);
                    }
                  });
  });
}

// ---- what happens ------------------------------------------------------------------------------

bool Replicas::settled() const {
  return std::ranges::all_of(servers_, [this](const ModelServer* server) {
    return server->up() && !server->frozen() && server->reign() == history_.reign() &&
           server->leads() == (server == servers_[primary_]);
  });
}

void Replicas::promote() {
  std::size_t best = primary_;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const bool fit = i != primary_ && !servers_[i]->leads() && servers_[i]->up();
    if (fit && (best == primary_ || servers_[i]->offset() > servers_[best]->offset())) {
      best = i;
    }
  }
  servers_[best]->promote(*servers_[primary_], history_.begin_reign());
  primary_ = best;
  tell_all();
}

void Replicas::tell_all() {
  std::set<NodeId> nodes;
  for (const Follower* follower : followers_) {
    nodes.insert(follower->node());
  }
  for (const NodeId node : nodes) {
    tell(node);
  }
}

void Replicas::depose_others() {
  for (ModelServer* server : servers_) {
    if (server != servers_[primary_] && server->leads()) {
      server->follow();
    }
  }
}

void Replicas::split(const std::vector<NodeId>& minority, std::size_t nodes, bool on) {
  split_from_ = on ? primary_ : split_from_;
  const Place apart = servers_[split_from_]->place();
  const auto both_ways = [&](Place one, Place other) {
    network_.cut(one, other, on);
    network_.cut(other, one, on);
  };
  for (const ModelServer* server : servers_) {
    if (server->place() != apart) {
      both_ways(apart, server->place());
    }
  }
  for (NodeId node = 0; node < nodes; ++node) {
    const bool left_behind = std::ranges::find(minority, node) != minority.end();
    if (!left_behind) {
      both_ways(place_of_node(node), apart);
      continue;
    }
    both_ways(place_of_node(node), Place::sentinels);
    for (const ModelServer* server : servers_) {
      if (server->place() != apart) {
        both_ways(place_of_node(node), server->place());
      }
    }
    if (!on) {
      tell(node);
    }
  }
}

void Replicas::cut(NodeId node, bool to, bool from, bool on) {
  for (const ModelServer* server : servers_) {
    if (to) {
      network_.cut(place_of_node(node), server->place(), on);
    }
    if (from) {
      network_.cut(server->place(), place_of_node(node), on);
    }
  }
}

void Replicas::heal() {
  for (ModelServer* server : servers_) {
    server->heal();
  }
  if (any()) {
    depose_others();
    tell_all();
  }
}

}  // namespace holdfast::sim

// The network of a world: every pair of places has a link in each direction, and each direction has
// faults of its own.
//
//   lost        a message vanishes (its connection hears nothing more about it)
//   doubled     a message from a server arrives twice (not requests: no connection doubles those)
//   slow        a message takes much longer, and those behind it on its connection wait for it
//   reordered   a message may overtake others of its connection; otherwise connections keep order
//   cut         every message vanishes: a partition, one way if the other direction is left alone
//   clogged     messages wait and arrive, in order, when the clog is over
#pragma once

#include "sim/world.hpp"

#include <holdfast/function.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace holdfast::sim {

enum class Place : std::uint16_t {  // nodes count from 0, further servers from `servers`
  servers = 0xff00,
  sentinels = 0xfffd,
  store = 0xfffe,
  database = 0xffff
};
constexpr Place place_of_node(std::size_t node) { return static_cast<Place>(node); }
constexpr Place place_of_server(std::size_t server) {  // 0 is the store, if there is but one
  return server == 0 ? Place::store
                     : static_cast<Place>(static_cast<std::size_t>(Place::servers) + server);
}
constexpr bool is_node(Place place) { return place < Place::servers; }

struct NetworkOptions {
  Duration latency_min = std::chrono::microseconds{50};
  Duration latency_max = std::chrono::milliseconds{1};
  Duration slow_max{};  // how long a slow message takes at most
  int slow_per_mille = 0;
  int loss_per_mille = 0;
  int doubled_per_mille = 0;
  int reordered_per_mille = 0;
};

class Network {
 public:
  Network(World& world, NetworkOptions options) : world_(world), options_(options) {}

  // `deliver` is called at the far end, twice if the message is doubled, never if it is lost.
  // `connection`: whichever of those between the two places it travels on.
  void send(Place from, Place to, std::uint64_t connection, UniqueFunction<void()> deliver);

  void set_options(NetworkOptions options) { options_ = options; }
  void cut(Place from, Place to, bool on) { link(from, to).cut = on; }
  bool is_cut(Place from, Place to) { return link(from, to).cut; }
  void clog(Place from, Place to, bool on);
  // Called for each message that vanishes.
  void when_lost(std::function<void(Place from, Place to)> told) { lost_ = std::move(told); }
  void heal();  // no cuts, no clogs, nothing slow, lost, doubled or reordered

 private:
  struct Message {
    std::uint64_t connection = 0;
    std::shared_ptr<UniqueFunction<void()>> deliver{};
  };
  struct Link {
    bool cut = false;
    bool clogged = false;
    std::map<std::uint64_t, WorldTime> last_arrivals{};  // by connection
    std::deque<Message> waiting{};
  };
  Link& link(Place from, Place to) { return links_[{from, to}]; }
  void carry(Link& path, Message message);

  World& world_;
  NetworkOptions options_;
  std::function<void(Place, Place)> lost_{};
  std::map<std::pair<Place, Place>, Link> links_{};  // map: links do not move
};

}  // namespace holdfast::sim

#include "sim/network.hpp"

#include <algorithm>

namespace holdfast::sim {

void Network::send(Place from, Place to, std::uint64_t connection, UniqueFunction<void()> deliver) {
  Link& path = link(from, to);
  Random& random = world_.random();
  if (path.cut || random.chance(options_.loss_per_mille)) {
    if (lost_) {
      lost_(from, to);
    }
    return;
  }
  Message message{connection, std::make_shared<UniqueFunction<void()>>(std::move(deliver))};
  if (path.clogged) {
    path.waiting.push_back(std::move(message));
    return;
  }
  if (!is_node(from) && random.chance(options_.doubled_per_mille)) {
    carry(path, message);
  }
  carry(path, std::move(message));
}

void Network::carry(Link& path, Message message) {
  Random& random = world_.random();
  WorldTime arrival =
      world_.now() + random.mostly_short(options_.latency_min, options_.latency_max);
  if (random.chance(options_.slow_per_mille)) {
    arrival += random.between(Duration{0}, options_.slow_max);
  }
  if (!random.chance(options_.reordered_per_mille)) {
    WorldTime& last = path.last_arrivals[message.connection];
    arrival = std::max(arrival, last);
    last = arrival;
  }
  world_.at(arrival, [deliver = std::move(message.deliver)] { (*deliver)(); });
}

void Network::clog(Place from, Place to, bool on) {
  Link& path = link(from, to);
  path.clogged = on;
  if (!on) {
    for (Message& message : std::exchange(path.waiting, {})) {
      carry(path, std::move(message));
    }
  }
}

void Network::heal() {
  options_.slow_per_mille = 0;
  options_.loss_per_mille = 0;
  options_.doubled_per_mille = 0;
  options_.reordered_per_mille = 0;
  for (auto& [ends, path] : links_) {
    path.cut = false;
    clog(ends.first, ends.second, false);
  }
}

}  // namespace holdfast::sim

#include "store/cluster/pulse.hpp"

#include <algorithm>

namespace holdfast::cluster {

std::vector<Address> Pulse::due(const std::vector<Address>& nodes, Instant now) {
  std::erase_if(beats_, [&nodes](const auto& one) {
    return std::ranges::find(nodes, one.first) == nodes.end();
  });
  std::vector<Address> found;
  if (now >= until_) {
    beats_.clear();
    return found;
  }
  for (const Address& node : nodes) {
    const auto [one, is_new] = beats_.try_emplace(node);
    Beat& beat = one->second;
    if (is_new || (beat.answered && now >= beat.sent + every)) {
      beat.sent = now;
      beat.answered = false;
      found.push_back(node);
    }
  }
  return found;
}

void Pulse::on_answer(const Address& node, bool alive) {
  if (const auto found = beats_.find(node); found != beats_.end()) {
    found->second.answered = true;
    found->second.dead = !alive;
  }
}

bool Pulse::in_doubt(Instant now) const noexcept {
  return std::ranges::any_of(beats_, [now](const auto& one) {
    return one.second.dead || (!one.second.answered && now >= one.second.sent + silence);
  });
}

Instant Pulse::wake_at(Instant now) const noexcept {
  if (now >= until_) {
    return Instant::max();
  }
  if (in_doubt(now)) {
    return now + std::chrono::milliseconds{100};
  }
  Instant earliest = now + every;
  for (const auto& [node, beat] : beats_) {
    earliest = std::min(earliest, beat.sent + (beat.answered ? every : silence));
  }
  return std::max(earliest, now + std::chrono::milliseconds{1});
}

}  // namespace holdfast::cluster

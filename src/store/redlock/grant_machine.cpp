#include "store/redlock/grant_machine.hpp"

#include <algorithm>

namespace holdfast::redlock {

GrantMachine::GrantMachine(std::size_t nodes, Limits limits, Instant now)
    : nodes_(nodes),
      limits_(limits),
      trusted_until_(now + limits.ttl),
      round_ends_(now + limits.node_timeout) {}

void GrantMachine::locked(std::size_t node, const Locked& answer, Instant now, Actions& actions) {
  if (!locked_.insert(node).second) {
    return;
  }
  const bool ours = answer.word == Locked::Word::ours;
  if (state_ != State::undecided) {
    if (state_ == State::lost && ours) {
      actions.emplace_back(Undo{node});  // it came after the first one there
    }
    return;
  }
  held_ = held_ || answer.word == Locked::Word::held;
  if (fence_ != Fence::none) {
    return;  // never raised, though it could help: it locked after the fence was chosen (README.md)
  }
  if (ours) {
    ours_.emplace(node, answer.surveys);
    highest_ = std::max(highest_, answer.highest);
    ++own_[answer.own];
  }
  if (too_late(now) || ours_.size() + nodes_ - locked_.size() < majority(nodes_)) {
    lose(actions);
  } else if (ours_.size() >= majority(nodes_)) {
    choose_fence(now, actions);
  }
}

void GrantMachine::choose_fence(Instant now, Actions& actions) {
  fence_ = static_cast<Fence>(to_int(highest_) + 1);
  for (const auto& [own, count] : own_) {
    if (own != Fence::none && count >= majority(nodes_)) {
      fence_ = own;  // asked again as the holder: the grant stands, and so does its fence
    }
  }
  round_ends_ = now + limits_.node_timeout;
  for (const auto& [node, surveys] : ours_) {
    actions.emplace_back(Raise{node, fence_, surveys});
  }
}

void GrantMachine::raised(std::size_t node, bool noted, Instant now, Actions& actions) {
  if (state_ != State::undecided || !ours_.contains(node)) {
    return;
  }
  (noted ? noted_ : refused_).insert(node);
  if (too_late(now) || ours_.size() - refused_.size() < majority(nodes_)) {
    lose(actions);
  } else if (noted_.size() >= majority(nodes_)) {
    state_ = State::won;
    actions.emplace_back(Won{fence_});
  }
}

void GrantMachine::time_is(Instant now, Actions& actions) {
  const std::optional<Instant> due = wake();
  if (due && now >= *due) {
    lose(actions);
  }
}

std::optional<Instant> GrantMachine::wake() const {
  if (state_ != State::undecided) {
    return std::nullopt;
  }
  return std::min(round_ends_, trusted_until_);
}

// On every node, also on those that never answered: the request may still be on its way.
void GrantMachine::lose(Actions& actions) {
  state_ = State::lost;
  for (std::size_t node = 0; node < nodes_; ++node) {
    actions.emplace_back(Undo{node});
  }
  // A second round that was refused means that somebody else was faster.
  actions.emplace_back(Lost{held_ || !refused_.empty()});
}

}  // namespace holdfast::redlock

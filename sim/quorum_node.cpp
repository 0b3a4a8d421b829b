#include "sim/quorum_node.hpp"

#include "base/mutation.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

constexpr std::int64_t unix_us_at_start = 1'800'000'000'000'000;
constexpr Instant clock_start{std::chrono::hours{1}};

}  // namespace

QuorumNode::QuorumNode(World& world, Network& network, History& history, Place place,
                       std::int64_t drift_ppm, const QuorumOptions& options)
    : world_(world),
      network_(network),
      history_(history),
      place_(place),
      clock_(world, clock_start, drift_ppm),
      options_(options) {}

std::string QuorumNode::number() const {
  return std::to_string(static_cast<unsigned>(place_) - static_cast<unsigned>(Place::servers));
}

void QuorumNode::say(const std::string& what, const Claim& claim) const {
  world_.note("node " + number() + ' ' + what + ' ' + claim.name + " for " +
              short_text(claim.owner));
}

bool QuorumNode::counts() const {
  return marked_ || options_.one_round || mutated(Mutation::forgetful_node_counts);
}

QuorumNode::Record* QuorumNode::living(const std::string& name) {
  std::optional<Record>& record = names_[name].record;
  if (record && record->expires <= clock_.now()) {
    record.reset();
  }
  return record ? &*record : nullptr;
}

// ---- what a client asks ------------------------------------------------------------------------

QuorumNode::Locked QuorumNode::lock(const Claim& claim, std::uint64_t attempt) {
  const auto tombstone = tombstones_.find(claim.owner);
  if (tombstone != tombstones_.end() && clock_.now() < tombstone->second) {
    return {Word::withdrawn, {}, {}};
  }
  if (!counts()) {
    return {Word::unmarked, {}, {}};
  }
  Record* record = living(claim.name);
  if (record != nullptr && record->owner != claim.owner) {
    return {Word::held, {}, {}};
  }
  if (record == nullptr) {
    record = &names_[claim.name].record.emplace(Record{claim.owner, attempt, {}, {}});
  }
  say("locks", claim);
  record->attempt = std::max(record->attempt, attempt);
  record->expires = std::max(record->expires, clock_.now() + claim.ttl + claim.lock_delay);
  Fence fence = fence_of(claim.name);
  if (options_.fences_of_time) {
    const auto since = (clock_.now() - clock_start) / std::chrono::microseconds{1};
    fence = std::max(fence, static_cast<Fence>(unix_us_at_start + since));
  }
  if (options_.one_round || mutated(Mutation::one_round_fence)) {
    fence = static_cast<Fence>(to_int(fence_of(claim.name)) + 1);
    names_[claim.name].fence = fence;
  }
  return {Word::ours, fence, record->own};
}

bool QuorumNode::raise(const Claim& claim, Fence fence) {
  Record* record = living(claim.name);
  if (record == nullptr || record->owner != claim.owner || !counts()) {
    return false;
  }
  const bool noted = record->own == fence;
  if (!noted && fence_of(claim.name) >= fence && !mutated(Mutation::fence_not_lower)) {
    return false;
  }
  say("notes fence " + std::to_string(to_int(fence)) + " of", claim);
  record->own = fence;
  Fence& known = names_[claim.name].fence;
  known = std::max(known, fence);
  high_ = std::max(high_, fence);
  return true;
}

bool QuorumNode::renew(const Claim& claim) {
  Record* record = living(claim.name);
  if (record == nullptr && mutated(Mutation::restored_without_quorum)) {
    record = &names_[claim.name].record.emplace(Record{claim.owner, 0, claim.fence, {}});
  }
  const bool counted = options_.one_round || mutated(Mutation::one_round_fence);
  if (record == nullptr || record->owner != claim.owner ||
      (record->own != claim.fence && !counted)) {
    return false;
  }
  record->expires = std::max(record->expires, clock_.now() + claim.ttl + claim.lock_delay);
  return true;
}

bool QuorumNode::restore(const Claim& claim) {
  const auto tombstone = tombstones_.find(claim.owner);
  const bool withdrawn = tombstone != tombstones_.end() && clock_.now() < tombstone->second;
  if (living(claim.name) != nullptr || withdrawn || !counts() ||
      names_[claim.name].fence > claim.fence) {
    return false;
  }
  say("restores", claim);
  const Instant expires = clock_.now() + claim.ttl + claim.lock_delay;
  names_[claim.name].record = Record{claim.owner, 0, claim.fence, expires};
  names_[claim.name].fence = claim.fence;
  high_ = std::max(high_, claim.fence);
  return true;
}

void QuorumNode::undo(const Claim& claim, std::uint64_t attempt) {
  const Record* record = living(claim.name);
  if (record != nullptr && record->owner == claim.owner && record->attempt == attempt) {
    say("undoes", claim);
    names_[claim.name].record.reset();
  }
}

bool QuorumNode::withdraw(const Claim& claim, bool tombstone) {
  if (tombstone) {
    tombstones_[claim.owner] = clock_.now() + claim.ttl;
  }
  const Record* record = living(claim.name);
  const bool ours = record != nullptr && record->owner == claim.owner;
  if (ours) {
    say("frees", claim);
    names_[claim.name].record.reset();
  }
  return ours;
}

std::optional<Fence> QuorumNode::high() const {
  return marked_ ? std::optional{high_} : std::nullopt;
}

void QuorumNode::join(Fence floor) {
  world_.note("node " + number() + " has a mark again, above " + std::to_string(to_int(floor)));
  floor_ = std::max(floor_, floor);
  high_ = std::max(high_, floor);
  marked_ = true;
}

// ---- what travels ------------------------------------------------------------------------------

void QuorumNode::receive(std::function<void(QuorumNode&)> request) {
  if (frozen_) {
    sockets_.push_back(std::move(request));
  } else if (up_) {
    request(*this);
  }
}

// ---- what happens ------------------------------------------------------------------------------

void QuorumNode::thaw() {
  frozen_ = false;
  for (auto& request : std::exchange(sockets_, {})) {
    request(*this);
  }
}

void QuorumNode::tell_lost(const std::string& why) const {
  StoreForgot forgot{why, {}, false, false, false, {}};
  for (const auto& [name, state] : names_) {
    if (state.record) {
      forgot.owners.push_back(state.record->owner);
    }
  }
  history_.record(forgot);
}

void QuorumNode::restart(bool keep_memory, Duration down) {
  up_ = false;
  frozen_ = false;
  sockets_.clear();
  ++life_;
  world_.after(down, [this, life = life_] { up_ = up_ || life == life_; });
  if (!keep_memory) {
    tell_lost("a node restarts without memory");
    names_.clear();
    tombstones_.clear();
    floor_ = high_ = Fence::none;
    marked_ = false;
  }
}

void QuorumNode::jump_clock(Duration by) {
  if (by > Duration{0}) {
    tell_lost("the clock of a node jumps");
  }
  clock_.jump(by);
}

void QuorumNode::heal() {
  up_ = true;
  if (frozen_) {
    thaw();
  }
}

std::optional<WorldTime> QuorumNode::keeps(const Claim& claim) const {
  const auto name = names_.find(claim.name);
  const bool ours =
      name != names_.end() && name->second.record && name->second.record->owner == claim.owner;
  return ours ? std::optional{clock_.when(name->second.record->expires)} : std::nullopt;
}

void QuorumNode::look() const {
  for (const auto& [name, state] : names_) {
    if (up_ && state.record && state.record->expires > clock_.now()) {
      history_.record(StoreHas{name, state.record->owner, false, {}});
    }
  }
}

}  // namespace holdfast::sim

// One node of a quorum lock: records that end by its own clock, and what the fence of DESIGN §3
// needs of it: for each name the greatest fence that was noted, one high-water fence, and a mark
// that says that it has forgotten nothing. A node without the mark (it restarted without memory)
// counts for nothing until its floor was set from a quorum of the others.
#pragma once

#include "sim/clock.hpp"
#include "sim/history.hpp"
#include "sim/network.hpp"

#include <holdfast/claim.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::sim {

struct QuorumOptions {
  std::size_t nodes = 0;       // 0: the store is not a quorum
  bool fences_of_time = true;  // false: the servers' clocks do not help the fences
  // WRONG, to be seen failing: each node counts for itself, a client takes the greatest of a
  // quorum, and a node that forgot counts as any other.
  bool one_round = false;
};

class QuorumNode {
 public:
  QuorumNode(World& world, Network& network, History& history, Place place, std::int64_t drift_ppm,
             const QuorumOptions& options = {});
  QuorumNode(const QuorumNode&) = delete;
  QuorumNode& operator=(const QuorumNode&) = delete;
  ~QuorumNode() = default;

  // ---- what a client asks, each in one atomic step ----
  enum class Word : std::uint8_t { ours, held, unmarked, withdrawn };
  struct Locked {
    Word word = Word::held;
    Fence fence = Fence::none;  // the greatest of the name here; 0 if it is not ours
    Fence own = Fence::none;    // the one that was noted for us
  };
  // `attempt`: each has a number of its own; only it can undo what it did.
  Locked lock(const Claim& claim, std::uint64_t attempt);
  // Notes that `fence` is this owner's if it holds the record and the fence here is lower.
  bool raise(const Claim& claim, Fence fence);
  bool renew(const Claim& claim);
  // A renewal that a quorum has confirmed puts the record back where it was forgotten.
  bool restore(const Claim& claim);
  void undo(const Claim& claim, std::uint64_t attempt);
  bool withdraw(const Claim& claim, bool tombstone);  // whether anything was ours
  std::optional<Fence> high() const;                  // unset: it has no mark
  void join(Fence floor);

  // ---- what travels ----
  // Runs `request` here once it has arrived, unless we are down by then.
  void receive(std::function<void(QuorumNode&)> request);
  Place place() const noexcept { return place_; }

  // ---- what happens ----
  void freeze() { frozen_ = true; }
  void thaw();
  void restart(bool keep_memory, Duration down);
  void jump_clock(Duration by);
  void heal();
  bool up() const noexcept { return up_; }
  bool marked() const noexcept { return marked_; }
  void look() const;
  std::optional<WorldTime> keeps(const Claim& claim) const;  // until when it keeps its record

 private:
  struct Record {
    OwnerId owner{};
    std::uint64_t attempt = 0;
    Fence own = Fence::none;
    Instant expires{};
  };
  struct Name {
    std::optional<Record> record{};
    Fence fence = Fence::none;
  };

  Record* living(const std::string& name);
  Fence fence_of(const std::string& name) { return std::max(names_[name].fence, floor_); }
  bool counts() const;
  std::string number() const;
  void say(const std::string& what, const Claim& claim) const;  // in the trace
  void tell_lost(const std::string& why) const;

  World& world_;
  Network& network_;
  History& history_;
  Place place_;
  SimClock clock_;
  QuorumOptions options_;
  std::map<std::string, Name> names_{};
  std::map<OwnerId, Instant> tombstones_{};
  Fence floor_ = Fence::none;
  Fence high_ = Fence::none;
  bool marked_ = true;  // the first nodes of a quorum are marked by whoever sets it up
  bool up_ = true;
  bool frozen_ = false;
  std::uint64_t life_ = 1;
  std::deque<std::function<void(QuorumNode&)>> sockets_{};
};

}  // namespace holdfast::sim

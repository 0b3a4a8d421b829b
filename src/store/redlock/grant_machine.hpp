// One attempt to lock a name on a quorum of nodes, with a fence that never repeats. Two rounds:
// lock on every node and read the greatest fence there; then, on each node where the record is
// ours, note one that is greater than the greatest of a quorum. Granted once a quorum has noted it.
// Why that is safe, and what a node must do for it: src/store/redlock/README.md.
//
// Pure: told the answers and the time, it says what to ask next. A node that never answers costs
// nothing while a quorum does.
//
//   GrantMachine machine{5, GrantMachine::Limits{claim.ttl, node_timeout}, now};
//   machine.locked(2, {Locked::Word::ours, highest, own}, now, actions);  // an answer of round 1
//   machine.raised(2, true, now, actions);                                // and of round 2
#pragma once

#include <holdfast/types.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

namespace holdfast::redlock {

// More than half: any two of this size have a node in common.
constexpr std::size_t majority(std::size_t nodes) noexcept { return nodes / 2 + 1; }

// What a node answered to round 1.
struct Locked {
  enum class Word : std::uint8_t { ours, held, unmarked, withdrawn, failed };
  Word word = Word::failed;
  Fence highest = Fence::none;  // of this name on this node, or its floor if that is greater
  Fence own = Fence::none;      // noted for this owner before: it asks again
  std::uint64_t surveys = 0;    // that the node has answered: a raise is for this many
};

class GrantMachine {
 public:
  struct Limits {
    Duration ttl{};
    Duration node_timeout{};  // for each round
  };
  struct Raise {  // ask this node for round 2
    std::size_t node = 0;
    Fence fence = Fence::none;
    std::uint64_t surveys = 0;  // refused if the node has answered more
  };
  struct Undo {  // take back what the attempt may have left on this node
    std::size_t node = 0;
  };
  struct Won {  // the lease is trusted for its TTL from the construction of the machine
    Fence fence = Fence::none;
  };
  struct Lost {
    bool held = false;  // somebody else has it; false: no quorum answered in time
  };
  using Action = std::variant<Raise, Undo, Won, Lost>;
  using Actions = std::vector<Action>;

  // Round 1 was sent to all nodes, 0 to nodes - 1, at `now`.
  GrantMachine(std::size_t nodes, Limits limits, Instant now);

  // Each appends to `actions`. Won or Lost comes once. An answer that comes twice changes nothing.
  void locked(std::size_t node, const Locked& answer, Instant now, Actions& actions);
  void raised(std::size_t node, bool noted, Instant now, Actions& actions);
  void time_is(Instant now, Actions& actions);

  // When time_is() has something to decide; none once it is decided.
  std::optional<Instant> wake() const;

 private:
  enum class State : std::uint8_t { undecided, won, lost };

  bool too_late(Instant now) const { return now >= trusted_until_; }
  void choose_fence(Instant now, Actions& actions);
  void lose(Actions& actions);

  std::size_t nodes_;
  Limits limits_;
  Instant trusted_until_;
  Instant round_ends_;
  State state_ = State::undecided;
  std::set<std::size_t> locked_{};               // answered round 1
  std::map<std::size_t, std::uint64_t> ours_{};  // and their surveys
  bool held_ = false;
  Fence highest_ = Fence::none;
  std::map<Fence, std::size_t> own_{};
  Fence fence_ = Fence::none;  // chosen: round 2 has begun
  std::set<std::size_t> noted_{};
  std::set<std::size_t> refused_{};
};

}  // namespace holdfast::redlock

// What is true in a world at an instant, as somebody who sees everything would write it down. The
// checkers know nothing but these; the trace is their text.
#pragma once

#include "sim/world.hpp"

#include <holdfast/claim.hpp>
#include <holdfast/types.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

namespace holdfast::sim {

using NodeId = std::size_t;
using AttemptId = std::uint64_t;  // one wait of one client; it may use several owners

// ---- on a node ---------------------------------------------------------------------------------

enum class Verb : std::uint8_t { acquire, queue, renew, withdraw };
struct Asked {  // the engine handed this request to the store's client side
  NodeId node = 0;
  Verb verb = Verb::acquire;
  std::string name{};
  OwnerId owner{};
  AttemptId attempt = 0;
  Duration life{};  // how long the store keeps what this makes: TTL + lock_delay
};
struct Wanted {  // a wait began
  NodeId node = 0;
  AttemptId attempt = 0;
  std::string name{};
  WorldTime due = WorldTime::max();  // an answer has to be there by then; max: for ever
};
struct Due {  // the answer to a wait is due at another time: it was cancelled, or clocks changed
  AttemptId attempt = 0;
  WorldTime due{};
};
struct Refused {  // a wait ended without a lease
  NodeId node = 0;
  AttemptId attempt = 0;
  std::string name{};
  std::error_code code{};
};
struct Trusts {  // a lease began, or its trust window moved
  NodeId node = 0;
  AttemptId attempt = 0;
  std::string name{};
  OwnerId owner{};
  Fence fence = Fence::none;
  WorldTime until{};
  bool fixed = false;  // a lease that is not renewed
  Duration ttl{};      // as asked for
};
enum class Ending : std::uint8_t { released, lost, abandoned };
struct Ended {  // the holder stopped trusting a lease, or was told to
  NodeId node = 0;
  std::string name{};
  OwnerId owner{};
  Ending how = Ending::released;
  std::error_code code{};
};
struct Crashed {
  NodeId node = 0;
};
struct Paused {
  NodeId node = 0;
  bool on = false;
};

// ---- in the store; `at` is the store's clock
// -----------------------------------------------------

struct StoreGranted {
  std::string name{};
  OwnerId owner{};
  Fence fence = Fence::none;
  bool handed_on = false;
  Instant at{};
};
struct StoreHolds {  // the end of a record moved
  std::string name{};
  OwnerId owner{};
  WorldTime until{};
};
struct StoreRenewed {
  std::string name{};
  OwnerId owner{};
};
struct StoreQueued {  // joined, or beat
  std::string name{};
  OwnerId owner{};
  Duration liveness{};
  Instant at{};
};
struct StoreWithdrew {
  std::string name{};
  OwnerId owner{};
  std::vector<OwnerId> ended{};  // whose records this ended
  Duration life{};               // for as long as this an older acquire must find a tombstone
  Instant at{};
};
// The store lost what it knew, or part of it: failover without the tail, restart without memory, a
// clock that jumped ahead, an operator's break. What is left is given in full.
struct StoreForgot {
  std::string why{};
  std::vector<OwnerId> owners{};  // their leases are gone, or end earlier than was promised
  bool fences = false;            // the next fence may be lower: documented, DESIGN §3
  bool state_replaced = false;    // by an older state, or none
  bool queues_told = false;       // `queues` is all that is left of the queues, in order
  std::vector<StoreQueued> queues{};
};
struct StoreHas {  // seen by looking, now and then
  std::string name{};
  OwnerId owner{};
  bool waits = false;
};

// ---- in the databases that the locks protect
// -----------------------------------------------------

struct Wrote {
  NodeId node = 0;
  std::string resource{};
  OwnerId owner{};
  Fence fence = Fence::none;
  bool guarded = false;
  bool landed = false;  // false: the guard refused
};

// ---- of the whole world
// --------------------------------------------------------------------------

struct Trouble {  // a fault begins or ends for this node's dealings with the store
  NodeId node = 0;
  bool on = false;
  std::string what{};
};
struct Healed {};    // no faults from here on; everything must make progress
struct Stuck {};     // the world goes round in circles without time passing
struct Finished {};  // the last fact

using Fact = std::variant<Asked, Wanted, Due, Refused, Trusts, Ended, Crashed, Paused, StoreGranted,
                          StoreHolds, StoreRenewed, StoreQueued, StoreWithdrew, StoreForgot,
                          StoreHas, Wrote, Trouble, Healed, Stuck, Finished>;

std::string text(const Fact& fact);
std::string short_text(const OwnerId& owner);  // enough of it to tell owners apart in a trace

}  // namespace holdfast::sim

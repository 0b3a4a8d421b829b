// What is true in a world at an instant, as somebody who sees everything would write it down. The
// checkers know nothing but these; the trace is their text.
#pragma once

#include "sim/world.hpp"

#include <holdfast/claim.hpp>
#include <holdfast/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

namespace holdfast::sim {

using NodeId = std::size_t;
using AttemptId = std::uint64_t;  // one wait of one client; it may use several owners

// How a name is asked for or held.
struct Use {
  Mode mode = Mode::exclusive;
  std::uint32_t permits = 1;
  std::uint32_t limit = 0;  // 0: a lock, not a semaphore
  std::string run{};        // of a name whose runs happen once
  bool operator==(const Use&) const = default;
};
Use use_of(const Claim& claim);
// Whether two may be inside at one instant, as far as two can tell: permits are counted elsewhere.
bool may_be_beside(const Use& one, const Use& other);

// ---- on a node ---------------------------------------------------------------------------------

enum class Verb : std::uint8_t { acquire, queue, renew, amend, withdraw };
struct Asked {  // the engine handed this request to the store's client side
  NodeId node = 0;
  Verb verb = Verb::acquire;
  std::string name{};
  OwnerId owner{};
  AttemptId attempt = 0;
  Duration life{};      // how long the store keeps what this makes: TTL + lock_delay
  std::string value{};  // that the record is to bear
};
struct Wanted {  // a wait began
  NodeId node = 0;
  AttemptId attempt = 0;
  std::string name{};
  WorldTime due = WorldTime::max();  // an answer has to be there by then; max: for ever
  Use use{};
  std::size_t names = 1;  // all of them, or none
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
struct Trusts {  // a lease began, its trust window moved, or a writer became a reader
  NodeId node = 0;
  AttemptId attempt = 0;
  std::string name{};
  OwnerId owner{};
  Fence fence = Fence::none;
  WorldTime until{};
  bool fixed = false;  // a lease that is not renewed
  Duration ttl{};      // as asked for
  Use use{};
  Fence floor = Fence::none;
};
enum class Ending : std::uint8_t { released, lost, abandoned };
struct Ended {  // the holder stopped trusting a lease, or was told to
  NodeId node = 0;
  std::string name{};
  OwnerId owner{};
  Ending how = Ending::released;
  std::error_code code{};
};
enum class RunStep : std::uint8_t { began, completed, failed };
struct Ran {  // the work that is to be done once for each run
  NodeId node = 0;
  std::string name{};
  std::string run{};
  OwnerId owner{};
  RunStep step = RunStep::began;
};
struct Proclaimed {  // the store has confirmed that the holder's record bears this value
  NodeId node = 0;
  std::string name{};
  OwnerId owner{};
  std::string value{};
};
struct Doubts {  // connected to a store again, or to another: what it holds may be lost
  NodeId node = 0;
};
struct Crashed {
  NodeId node = 0;
};
struct Paused {
  NodeId node = 0;
  bool on = false;
};

// ---- in the store; `at` is its clock -----------------------------------------------------------

struct StoreGranted {
  std::string name{};
  OwnerId owner{};
  Fence fence = Fence::none;
  bool handed_on = false;
  Instant at{};
  Use use{};
  Fence floor = Fence::none;
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
  Use use{};
};
struct StoreDismissed {  // left the queue, if it was there: its run is done
  std::string name{};
  OwnerId owner{};
};
struct StoreAmended {
  std::string name{};
  OwnerId owner{};
  Mode mode = Mode::exclusive;
};
struct StoreWithdrew {
  std::string name{};
  OwnerId owner{};
  std::vector<OwnerId> ended{};  // whose records this ended
  Duration life{};               // for as long as this an older acquire must find a tombstone
  Instant at{};
};
struct StoreMarked {  // in the same step as the StoreWithdrew before it
  std::string name{};
  std::string run{};
  OwnerId owner{};
  Instant at{};
  Instant until{};
};
// How a name stands after a step that serves its queue.
struct StoreStands {
  struct Place {
    OwnerId owner{};
    Use use{};
    Fence fence = Fence::none;
    bool released = false;  // what min_hold leaves of a hold
    bool operator==(const Place&) const = default;
  };
  std::string name{};
  std::vector<Place> holders{};
  std::optional<Place> next{};  // the head of the queue, if it lives
  bool operator==(const StoreStands&) const = default;
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
  Instant at{};                 // before its clock jumped
  std::vector<OwnerId> gone{};  // those whose records are no more
};
// A primary that does not know of its successor granted, renewed, changed or took back something of
// these owners: the store that counts will not hear of it (split brain, DESIGN §3).
struct StoreDeposed {
  std::vector<OwnerId> owners{};
};
struct StoreHas {  // seen by looking, now and then
  std::string name{};
  OwnerId owner{};
  bool waits = false;
  std::string value{};
};

// ---- in the databases that the locks protect ---------------------------------------------------

struct Wrote {
  NodeId node = 0;
  std::string resource{};
  OwnerId owner{};
  Fence fence = Fence::none;
  bool guarded = false;
  bool landed = false;  // false: the guard refused
  Fence floor = Fence::none;
};

// ---- of the whole world ------------------------------------------------------------------------

struct Trouble {  // a fault begins or ends for this node's dealings with the store
  NodeId node = 0;
  bool on = false;
  std::string what{};
};
struct Healed {};    // no faults from here on; everything must make progress
struct Stuck {};     // the world goes round in circles without time passing
struct Finished {};  // the last fact

using Fact =
    std::variant<Asked, Wanted, Due, Refused, Trusts, Ended, Ran, Proclaimed, Doubts, Crashed,
                 Paused, StoreGranted, StoreHolds, StoreRenewed, StoreQueued, StoreDismissed,
                 StoreAmended, StoreWithdrew, StoreMarked, StoreStands, StoreForgot, StoreDeposed,
                 StoreHas, Wrote, Trouble, Healed, Stuck, Finished>;

std::string text(const Fact& fact);
std::string short_text(const OwnerId& owner);  // enough of it to tell owners apart in a trace

}  // namespace holdfast::sim

// Everything about one experiment: instances of a service that all want to pay the same orders, the
// lock between them, the database, and what goes wrong. The seed decides the rest.
#pragma once

#include <holdfast/types.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::sim {

// How an instance keeps others out. All but `holdfast` are models of what people write, kept here
// to be seen failing.
enum class Protocol : std::uint8_t {
  holdfast,      // the real engine and its machines
  setnx_expire,  // WRONG: SETNX, then EXPIRE as a second command
  set_px,        // WRONG: SET NX PX, then nobody looks at the clock again
  none           // no lock at all
};

// What the database does about a write that should not be.
enum class Protection : std::uint8_t {
  none,
  fence,       // the guard of holdfast: the same code that runs in memory guards
  unique_key,  // a second payment of an order violates a unique key
  version,     // UPDATE ... WHERE version = what was read
  skip_locked  // SELECT ... FOR UPDATE SKIP LOCKED: the order itself is locked while it is paid
};

// How a reader keeps writers out while it reads.
enum class Reading : std::uint8_t { unlocked, shared, exclusive };

// When a fault strikes. All but `any` strike the first instance that gets there.
enum class Moment : std::uint8_t {
  any,             // at a time and an instance that the seed chooses
  between_steps,   // after SETNX, before EXPIRE (other protocols: after the grant)
  granted,         // the lock is there, nothing done yet
  before_write,    // the lease was looked at, the write is not sent yet
  before_release,  // all is written, the lock not given back
};

struct Trial {
  std::uint64_t seed = 1;

  // ---- times and numbers ----
  std::size_t instances = 3;
  std::size_t readers = 0;  // so many of them only read, and must see one state
  std::size_t orders = 12;
  std::size_t orders_per_turn = 0;  // then the lock is given back; 0: as long as there are orders
  Duration work = std::chrono::milliseconds{400};  // for one order
  Duration length = std::chrono::seconds{40};      // at most
  Duration idle_max = std::chrono::seconds{12};    // longer without anybody at work is broken
  Duration ttl = std::chrono::seconds{3};
  std::optional<Duration> margin{};  // unset: as the product does
  Duration lock_delay{};             // of `holdfast`

  // What goes wrong, each at most once; a zero time: it does not.
  Duration pause{};
  Duration cut{};          // between an instance and the store
  Duration write_delay{};  // a write is held up on its way, and its sender crashes
  Duration replica_lag = std::chrono::milliseconds{1500};
  Duration store_clock_jump{};  // forward
  Duration node_clock_jump{};   // forward
  std::int64_t drift_ppm = 400;
  int loss_per_mille = 0;

  // A store of several servers: a primary with replicas, or a quorum of nodes.
  std::size_t replicas = 0;
  std::size_t acks = 0;  // replicas that must have a grant before it counts
  std::size_t nodes = 0;
  Duration quorum_jump{};  // forward, of one node's clock

  // ---- choices ----
  Protocol protocol = Protocol::holdfast;
  Protection protection = Protection::none;
  Reading reading = Reading::shared;
  bool watchdog = true;        // of `holdfast`: renew
  bool owner_check = false;    // of the wrong ones: delete only what is our own
  bool blind_renewal = false;  // of the wrong ones: EXPIRE now and then, never mind the answer
  bool counter = false;        // WRONG: fences from an INCR counter, which a failover sets back

  bool crash = false;     // of a process; it starts again after two seconds
  bool failover = false;  // to a replica that has not heard of the latest grant
  bool split = false;     // and the holder cannot reach the new primary
  bool left_behind =
      false;                // the primary is cut off together with the holder; a replica takes over
  bool dead_nodes = false;  // as many nodes as a quorum can do without are down at first
  bool quorum_forget = false;  // a node restarts without memory
  bool one_round = false;      // WRONG: fences of a quorum in one round, and no marks
  Moment pause_at = Moment::before_write;
  Moment crash_at = Moment::before_write;
  Moment cut_at = Moment::before_write;
};

}  // namespace holdfast::sim

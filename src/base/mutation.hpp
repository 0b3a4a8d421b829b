// Seeded bugs: one-line mistakes that the simulator must find (DESIGN §8). In normal builds
// mutated() is a constant false and leaves no trace; only tests/mutants defines
// HOLDFAST_MUTATIONS, builds everything once more, and switches them on one at a time.
#pragma once

#include <cstdint>

namespace holdfast {

enum class Mutation : std::uint8_t {
  none,
  // the acquire machine
  trust_from_reply,            // the trust window counts from the reply's arrival
  no_margin,                   // the holder believes for the whole TTL
  handoff_trusted_from_news,   // the trust window of a hand-off counts from its news
  old_news_of_handoff,         // news of a hand-off counts, however old it is
  unknown_outcome_forgotten,   // an unanswered attempt is not withdrawn
  withdrawn_owner_asks_again,  // one owner is withdrawn and goes on asking
  deadline_waits_for_reply,    // the deadline is not looked at while a request is on its way
  waits_for_wake_ups,          // no timer of its own: a lost wake-up is never made up for
  // the lease machine and the engine
  renewal_trusted_from_reply,  // as trust_from_reply, for renewals
  watchdog_stops_on_failure,   // one failed renewal is the last
  loss_told_at_expiry,         // told when the store lets go, not when trust ends
  fixed_is_renewed,            // a lease with renew=false is verified by a full renewal
  failed_release_forgotten,    // a release without an answer is not tried again
  renewed_after_release,       // the watchdog does not hear of a release
  // the store
  renew_by_name,            // whoever asks renews
  release_by_name,          // whoever asks releases
  renewal_recreates,        // a renewal of a missing record makes one
  fence_by_counter,         // INCR: after a failover it starts again from what was replicated
  no_tombstones,            // a withdrawn owner is granted when its acquire arrives late
  dead_waiter_keeps_place,  // liveness is not looked at
  last_come_first_served,   // the queue is a stack
  expiry_by_clients_clock,  // a lease ends by the clock of whoever asks
  handoff_is_forgotten,     // the releasing step tells the next waiter but grants it nothing
  guard_admits_all,         // the guard looks at nothing
  count_,
};

#ifdef HOLDFAST_MUTATIONS
inline Mutation active_mutation = Mutation::none;  // one thread, one at a time
inline bool mutated(Mutation mutation) { return mutation == active_mutation; }
#else
constexpr bool mutated(Mutation /*mutation*/) { return false; }
#endif

}  // namespace holdfast

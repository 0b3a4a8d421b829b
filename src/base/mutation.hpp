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
  group_keeps_what_it_has,     // several names: one is busy, and the others are not given back
  floor_of_handoff_forgotten,  // whoever is handed a name takes its own fence for the floor
  // the lease machine and the engine
  renewal_trusted_from_reply,  // as trust_from_reply, for renewals
  watchdog_stops_on_failure,   // one failed renewal is the last
  loss_told_at_expiry,         // told when the store lets go, not when trust ends
  fixed_is_renewed,            // a lease with renew=false is verified by a full renewal
  failed_release_forgotten,    // a release without an answer is not tried again
  renewed_after_release,       // the watchdog does not hear of a release
  mark_forgotten_in_clean_up,  // a release that is tried again does not mark the run done
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
  reader_passes_writer,     // a reader that fits beside readers does not look at the queue
  only_head_is_let_in,      // of several waiters that fit, one is let in
  permits_of_others_only,   // the limit is compared with what others have, without what is asked
  other_limit_is_ignored,   // each claim is judged by its own limit
  floor_is_own_fence,       // the floor of a reader is its own fence
  downgrade_frees,          // a downgrade gives the name back and takes it again
  mark_in_second_step,      // the release hands on before the run is marked done
  mark_without_lease,       // whoever asks for a mark gets it
  queue_ignores_marks,      // a waiter is handed a run that is done
  guard_admits_all,         // the guard looks at nothing
  // a store with replicas, or of several nodes
  renewed_by_owner_alone,   // another grant of the same owner, under another fence, is renewed
  doubt_is_ignored,         // after a failover leases are not verified until they are due
  shortfall_is_a_grant,     // too few replicas have it, and it counts all the same
  handoff_confirmed_alone,  // what confirms a hand-off does not wait for replicas
  // a quorum of nodes
  one_round_fence,          // each node counts for itself, and the greatest of a quorum is taken
  fence_not_lower,          // a node notes a fence that is not above the one it has
  forgetful_node_counts,    // there is no mark: a node without memory counts as any other
  validity_from_round_two,  // the trust window counts from the second round
  restored_without_quorum,  // a renewal makes the record where it is missing
  stragglers_stay,          // nodes that did not answer a failed attempt keep what it left there
  count_,
};

#ifdef HOLDFAST_MUTATIONS
inline Mutation active_mutation = Mutation::none;  // one thread, one at a time
inline bool mutated(Mutation mutation) { return mutation == active_mutation; }
#else
constexpr bool mutated(Mutation /*mutation*/) { return false; }
#endif

}  // namespace holdfast

// Seeded bugs: everything is built once more with mistakes that can be switched on. Each one must
// be caught within its number of seeds, and the same seeds must be clean without it: a simulator
// that finds nothing, or that objects to everything, is worth nothing.
#include "base/mutation.hpp"
#include "sim/quorum_node.hpp"
#include "sim/sim.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::sim {
namespace {

struct Mutant {
  Mutation mutation = Mutation::none;
  const char* name = "";
  const char* scenario = "everything";
  std::uint64_t seeds = 1;  // within these
};

// The bound is about five times what it takes on average: seeds are dealt anew with every change of
// the simulator or the core.
const std::vector<Mutant> mutants{
    {Mutation::trust_from_reply, "trust_from_reply", "partitions", 40},
    {Mutation::no_margin, "no_margin", "everything", 10},
    {Mutation::handoff_trusted_from_news, "handoff_trusted_from_news", "everything", 5},
    {Mutation::old_news_of_handoff, "old_news_of_handoff", "pauses", 120},
    {Mutation::unknown_outcome_forgotten, "unknown_outcome_forgotten", "partitions", 20},
    {Mutation::withdrawn_owner_asks_again, "withdrawn_owner_asks_again", "everything", 5},
    {Mutation::deadline_waits_for_reply, "deadline_waits_for_reply", "partitions", 5},
    {Mutation::waits_for_wake_ups, "waits_for_wake_ups", "everything", 10},
    {Mutation::renewal_trusted_from_reply, "renewal_trusted_from_reply", "loss", 30},
    {Mutation::watchdog_stops_on_failure, "watchdog_stops_on_failure", "failover", 80},
    {Mutation::loss_told_at_expiry, "loss_told_at_expiry", "everything", 10},
    {Mutation::fixed_is_renewed, "fixed_is_renewed", "everything", 15},
    {Mutation::failed_release_forgotten, "failed_release_forgotten", "failover", 80},
    {Mutation::renewed_after_release, "renewed_after_release", "everything", 5},
    {Mutation::renew_by_name, "renew_by_name", "everything", 15},
    {Mutation::release_by_name, "release_by_name", "everything", 5},
    {Mutation::renewal_recreates, "renewal_recreates", "partitions", 50},
    {Mutation::fence_by_counter, "fence_by_counter", "failover", 5},
    {Mutation::no_tombstones, "no_tombstones", "partitions", 50},
    {Mutation::dead_waiter_keeps_place, "dead_waiter_keeps_place", "everything", 5},
    {Mutation::last_come_first_served, "last_come_first_served", "everything", 5},
    {Mutation::expiry_by_clients_clock, "expiry_by_clients_clock", "everything", 5},
    {Mutation::handoff_is_forgotten, "handoff_is_forgotten", "everything", 5},
    {Mutation::group_keeps_what_it_has, "group_keeps_what_it_has", "primitives", 40},
    {Mutation::reader_passes_writer, "reader_passes_writer", "primitives", 20},
    {Mutation::only_head_is_let_in, "only_head_is_let_in", "primitives", 10},
    {Mutation::permits_of_others_only, "permits_of_others_only", "primitives", 20},
    {Mutation::other_limit_is_ignored, "other_limit_is_ignored", "primitives", 40},
    {Mutation::floor_is_own_fence, "floor_is_own_fence", "primitives", 10},
    {Mutation::floor_of_handoff_forgotten, "floor_of_handoff_forgotten", "primitives", 10},
    {Mutation::downgrade_frees, "downgrade_frees", "primitives", 15},
    {Mutation::mark_in_second_step, "mark_in_second_step", "primitives", 25},
    {Mutation::mark_without_lease, "mark_without_lease", "primitives", 80},
    {Mutation::mark_forgotten_in_clean_up, "mark_forgotten_in_clean_up", "primitives", 100},
    {Mutation::queue_ignores_marks, "queue_ignores_marks", "primitives", 25},
    {Mutation::guard_admits_all, "guard_admits_all", "everything", 25},
    {Mutation::renewed_by_owner_alone, "renewed_by_owner_alone", "failover", 300},
    {Mutation::doubt_is_ignored, "doubt_is_ignored", "failover", 45},
    {Mutation::shortfall_is_a_grant, "shortfall_is_a_grant", "acks", 15},
    {Mutation::handoff_confirmed_alone, "handoff_confirmed_alone", "acks", 220},
    {Mutation::one_round_fence, "one_round_fence", "quorum", 70},
    {Mutation::forgetful_node_counts, "forgetful_node_counts", "quorum", 150},
    {Mutation::validity_from_round_two, "validity_from_round_two", "quorum", 20},
    {Mutation::restored_without_quorum, "restored_without_quorum", "quorum", 330},
    {Mutation::stragglers_stay, "stragglers_stay", "quorum", 45},
};

class Mutants : public testing::TestWithParam<Mutant> {
 protected:
  ~Mutants() override { active_mutation = Mutation::none; }
};

TEST_P(Mutants, IsCaught) {
  const Mutant& mutant = GetParam();
  active_mutation = mutant.mutation;
  for (std::uint64_t seed = 0; seed < mutant.seeds; ++seed) {
    const Report report = run(seed, mutant.scenario);
    if (report.passed()) {
      continue;
    }
    RecordProperty("seeds", static_cast<int>(seed + 1));
    RecordProperty("checker", report.violations.front().checker);
    active_mutation = Mutation::none;
    const Report clean = run(seed, mutant.scenario);
    EXPECT_TRUE(clean.passed()) << text(clean);
    return;
  }
  FAIL() << mutant.name << " was not caught within " << mutant.seeds << " seeds of "
         << mutant.scenario;
}

INSTANTIATE_TEST_SUITE_P(Each, Mutants, testing::ValuesIn(mutants),
                         [](const auto& mutant) { return std::string{mutant.param.name}; });

// A late message for an owner that holds the node again: two more rules stand in its way, so no
// seed gets there. What it would do is this.
TEST(DirectedMutant, FenceNotLower) {
  World world{1};
  Network network{world, {}};
  History history{world};
  QuorumNode node{world, network, history, place_of_server(1), 0};
  Claim one;
  one.name = "n";
  one.owner = {{1}};
  one.ttl = std::chrono::seconds{9};
  Claim other = one;
  other.owner = {{2}};
  node.lock(one, 1);
  EXPECT_TRUE(node.raise(one, Fence{5}));
  node.withdraw(one, false);
  node.lock(other, 2);
  EXPECT_FALSE(node.raise(other, Fence{5}));
  active_mutation = Mutation::fence_not_lower;
  EXPECT_TRUE(node.raise(other, Fence{5}));
  active_mutation = Mutation::none;
}

TEST(MutantList, HasEveryMutation) {
  constexpr std::size_t directed = 1;
  EXPECT_EQ(mutants.size() + directed + 1, static_cast<std::size_t>(Mutation::count_));
}

}  // namespace
}  // namespace holdfast::sim

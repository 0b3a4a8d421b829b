// A lock on most of several nodes: what a dead one costs, what a forgetful one may not cost, and
// what happens if the documented condition is broken.
#include "tests/sim/stage.hpp"

namespace holdfast::sim {
namespace {

Options quorum_of(std::size_t nodes) {
  Options options;
  options.quorum.nodes = nodes;
  options.quorum.fences_of_time = false;  // fences rise by the protocol alone
  return options;
}

QuorumNode& quorum_node(Stage& stage, std::size_t which) {
  return *stage.universe().quorum->nodes().at(which);
}

Claim claim_of(std::uint8_t owner) {
  Claim claim;
  claim.name = "n";
  claim.owner = {{owner}};
  claim.ttl = 9s;
  return claim;
}

TEST(DirectedQuorum, TwoOfFiveThatAreDeadCostNothing) {
  Stage stage{2, quorum_of(5)};
  quorum_node(stage, 0).restart(true, 1h);
  quorum_node(stage, 3).freeze();
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 9s}});
  EXPECT_LE(stage.now(), 100ms);
  stage.run_for(1min);
  EXPECT_TRUE(Stage::held(lease));
  stage.expect_clean();
}

TEST(DirectedQuorum, FencesRiseFromHolderToHolder) {
  Stage stage{2, quorum_of(3)};
  Fence last = Fence::none;
  for (int times = 0; times < 10; ++times) {
    const LeasePtr lease = stage.acquire(times % 2 == 0 ? 0 : 1, {.name = "n"});
    EXPECT_GT(lease->fence, last);
    last = lease->fence;
    stage.locker(times % 2 == 0 ? 0 : 1).release(lease);
    stage.run_for(100ms);
  }
  stage.expect_clean();
}

// It comes back empty, learns from a quorum of the others, and counts from then on.
TEST(DirectedQuorum, ANodeThatForgotCountsOnceItHasLearnt) {
  Stage stage{2, quorum_of(5)};
  const LeasePtr first = stage.acquire(0, {.name = "n"});
  stage.locker(0).release(first);
  stage.run_for(100ms);
  quorum_node(stage, 0).restart(false, 10ms);
  stage.run_for(100ms);
  EXPECT_FALSE(quorum_node(stage, 0).marked());
  const LeasePtr second = stage.acquire(1, {.name = "n"});
  stage.run_for(100ms);
  EXPECT_TRUE(quorum_node(stage, 0).marked());
  stage.locker(1).release(second);
  stage.run_for(100ms);
  quorum_node(stage, 3).restart(true, 1h);
  quorum_node(stage, 4).restart(true, 1h);
  const LeasePtr third = stage.acquire(0, {.name = "n"});  // with its vote
  EXPECT_GT(second->fence, first->fence);
  EXPECT_GT(third->fence, second->fence);
  stage.expect_clean();
}

// The documented condition: of the others a quorum remembers. Two of three have forgotten, so
// nobody is let in, until somebody marks them by hand: then a fence is given twice.
TEST(DirectedQuorum, WhereAQuorumForgotAndIsMarkedByHandAFenceRepeats) {
  Stage stage{2, quorum_of(3)};
  quorum_node(stage, 2).restart(true, 1h);
  const LeasePtr first = stage.acquire(0, {.name = "n"});
  stage.locker(0).release(first);
  stage.run_for(100ms);
  quorum_node(stage, 0).restart(false, 10ms);
  quorum_node(stage, 1).restart(false, 10ms);
  const Stage::WaitPtr next = stage.start(1, {.name = "n"});
  stage.run_for(1min);
  EXPECT_TRUE(next->waiting());
  stage.expect_clean();
  quorum_node(stage, 0).join(Fence::none);
  quorum_node(stage, 1).join(Fence::none);
  stage.finish(next);
  ASSERT_TRUE(next->granted());
  EXPECT_EQ(next->lease->fence, first->fence);
  EXPECT_GE(stage.universe().history.violations().size(), 1U);
}

TEST(DirectedQuorum, ANodeNotesNoFenceThatIsNotAboveItsOwn) {
  Stage stage{1, quorum_of(3)};
  QuorumNode& node = quorum_node(stage, 0);
  node.lock(claim_of(1), 1);
  EXPECT_TRUE(node.raise(claim_of(1), Fence{5}));
  EXPECT_TRUE(node.raise(claim_of(1), Fence{5}));  // a repeat is harmless
  node.withdraw(claim_of(1), false);
  node.lock(claim_of(2), 2);
  EXPECT_FALSE(node.raise(claim_of(2), Fence{5}));
  EXPECT_FALSE(node.raise(claim_of(1), Fence{6}));  // no longer the owner
  EXPECT_TRUE(node.raise(claim_of(2), Fence{6}));
}

// A lane's attempt failed and is undone while the loop tries again for the same owner.
TEST(DirectedQuorum, WhatOneAttemptUndoesIsNotWhatTheNextHasDone) {
  Stage stage{1, quorum_of(3)};
  QuorumNode& node = quorum_node(stage, 0);
  node.lock(claim_of(1), 1);
  node.lock(claim_of(1), 2);
  node.undo(claim_of(1), 1);
  EXPECT_TRUE(node.raise(claim_of(1), Fence{5}));
  node.undo(claim_of(1), 2);
  EXPECT_FALSE(node.raise(claim_of(1), Fence{5}));
}

}  // namespace
}  // namespace holdfast::sim

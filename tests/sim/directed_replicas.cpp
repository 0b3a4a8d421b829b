// A primary that is frozen or cut off while a replica takes over: who is told what, what the late
// "OK" is worth, and what bounds the time in which two are inside.
#include "tests/sim/stage.hpp"

namespace holdfast::sim {
namespace {

constexpr const char* overlaps = "overlaps after the store forgot a lease";

Options with_replicas(Duration lag, std::size_t acks = 0, std::size_t min_replicas = 0) {
  Options options;
  options.server.replicas = 1;
  options.server.replication_lag = lag;
  options.server.acks = acks;
  options.server.min_replicas = min_replicas;
  return options;
}

// The grant had not reached the replica; the request of the next one waits in the frozen sockets.
TEST(DirectedReplicas, TheHolderIsToldInOneRoundTripAndTheLateOkIsWorthNothing) {
  Stage stage{3, with_replicas(1s)};
  stage.run_for(1500ms);
  const LeasePtr first = stage.acquire(0, {.name = "n", .options = {.ttl = 30s}});
  ModelServer& old = stage.servers().primary();
  old.freeze();
  const Stage::WaitPtr next = stage.start(1, {.name = "n", .options = {.ttl = 30s}});
  stage.run_for(1s);
  EXPECT_TRUE(next->waiting());
  stage.servers().promote();
  stage.run_for(6ms);  // the sentinels' word, a connection, a question and its answer
  EXPECT_EQ(first->why.load(), errc::taken);
  stage.finish(next);
  ASSERT_TRUE(next->granted());
  EXPECT_GT(next->lease->fence, first->fence);
  old.thaw();  // executes what waited
  stage.run_for(100ms);
  stage.servers().depose_others();
  stage.run_for(1min);
  EXPECT_TRUE(Stage::held(next->lease));
  EXPECT_TRUE(stage.servers().settled());
  stage.expect_clean();
}

TEST(DirectedReplicas, AHolderWhomTheReplicaKnowsKeepsItsLease) {
  Stage stage{3, with_replicas(10ms)};
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 9s}});
  const Stage::WaitPtr next = stage.start(1, {.name = "n"});
  stage.run_for(1s);
  stage.servers().primary().go_down(5s);
  stage.run_for(1s);
  stage.servers().promote();
  stage.run_for(20s);
  stage.servers().depose_others();
  stage.run_for(20s);
  EXPECT_TRUE(Stage::held(lease));
  stage.locker(0).release(lease);
  stage.finish(next);
  EXPECT_TRUE(next->granted());
  stage.expect_clean();
}

// Asynchronous replication and a client on the wrong side: two are inside for as long as the split
// lasts, and the guard decides.
TEST(DirectedReplicas, ASplitLetsTwoInForAsLongAsItLasts) {
  Stage stage{3, with_replicas(10ms)};
  const LeasePtr behind = stage.acquire(0, {.name = "n", .options = {.ttl = 3s}});
  stage.run_for(1s);
  stage.split({0}, true);
  stage.run_for(1s);
  stage.servers().promote();
  const LeasePtr second = stage.acquire(1, {.name = "n", .options = {.ttl = 3s}});
  EXPECT_GT(second->fence, behind->fence);
  stage.run_for(1min);
  EXPECT_TRUE(Stage::held(behind));  // its primary goes on renewing
  EXPECT_TRUE(Stage::held(second));
  EXPECT_GE(stage.count(overlaps), 1U);
  stage.locker(1).write(second);
  stage.run_for(10ms);
  stage.locker(0).write(behind);
  stage.run_for(10ms);
  EXPECT_EQ(stage.count(landed), 1U);
  EXPECT_EQ(stage.count(refused), 1U);
  EXPECT_EQ(behind->why.load(), errc::stale_fence);
  stage.split({0}, false);
  stage.servers().depose_others();
  stage.run_for(1s);
  EXPECT_TRUE(Stage::held(second));
  stage.expect_clean();
}

TEST(DirectedReplicas, AHolderLeftBehindIsToldWhenTheSplitEnds) {
  Stage stage{3, with_replicas(10ms)};
  const LeasePtr behind = stage.acquire(0, {.name = "n", .options = {.ttl = 3s}});
  stage.run_for(100ms);
  stage.split({0}, true);
  stage.servers().promote();
  const LeasePtr second = stage.acquire(1, {.name = "n", .options = {.ttl = 3s}});
  stage.run_for(10s);
  EXPECT_TRUE(Stage::held(behind));
  stage.split({0}, false);
  stage.run_for(6ms);
  EXPECT_EQ(behind->why.load(), errc::taken);
  EXPECT_TRUE(Stage::held(second));
  stage.expect_clean();
}

// A primary that nobody follows any more cannot renew: the overlap is none.
TEST(DirectedReplicas, AcknowledgementsOfAllEndTheLeaseThatWasLeftBehind) {
  Stage stage{3, with_replicas(10ms, 1)};
  const LeasePtr behind = stage.acquire(0, {.name = "n", .options = {.ttl = 3s}});
  stage.run_for(100ms);
  stage.split({0}, true);
  stage.run_for(300ms);
  stage.servers().promote();
  const Stage::WaitPtr next = stage.start(1, {.name = "n", .options = {.ttl = 3s}});
  stage.run_for(3s);
  EXPECT_EQ(behind->why.load(), errc::expired);
  EXPECT_TRUE(next->waiting());  // nor has the new primary a replica that could acknowledge
  stage.split({0}, false);
  stage.servers().depose_others();
  stage.finish(next);
  EXPECT_TRUE(next->granted());
  EXPECT_EQ(stage.count(overlaps), 0U);
  stage.expect_clean();
}

TEST(DirectedReplicas, AGrantThatTooFewReplicasHaveIsNone) {
  Stage stage{3, with_replicas(10ms, 1)};
  stage.run_for(100ms);
  stage.split({0}, true);
  const auto refused_wait = stage.finish(stage.start(0, {.name = "n", .timeout = 0s}));
  EXPECT_FALSE(refused_wait->granted());
  stage.split({0}, false);
  stage.run_for(1s);
  stage.acquire(1, {.name = "n"});  // and it left nothing behind
  EXPECT_LE(stage.now(), 10s);
  stage.expect_clean();
}

// min-replicas-to-write: the old primary stops by itself, so what is inside ends with its TTL.
TEST(DirectedReplicas, APrimaryWithoutReplicasStopsWriting) {
  Options options = with_replicas(10ms, 0, 1);
  options.server.replicas = 2;
  Stage stage{3, options};
  stage.run_for(300ms);
  const LeasePtr behind = stage.acquire(0, {.name = "n", .options = {.ttl = 3s}});
  stage.run_for(100ms);
  stage.split({0}, true);
  stage.run_for(300ms);
  stage.servers().promote();
  stage.run_for(5s);
  EXPECT_EQ(behind->why.load(), errc::expired);
  stage.split({0}, false);
  stage.servers().depose_others();
  stage.acquire(1, {.name = "n"});
  stage.expect_clean();
}

// The new primary knows of an older beat than the one that its predecessor answered, so that its
// hand-off ends sooner. The news of it and the new connection reach the waiter together.
TEST(DirectedReplicas, AHandOffByANewPrimaryIsNotTrustedFromABeatToTheOldOne) {
  Stage stage{3, with_replicas(4s)};
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 30s}});
  const Stage::WaitPtr next = stage.start(1, {.name = "n", .options = {.ttl = 30s}});
  stage.run_for(7500ms);
  stage.split({1}, true);
  stage.servers().promote();
  stage.run_for(500ms);
  ASSERT_TRUE(Stage::held(lease));
  stage.split({1}, false);
  stage.run_for(1500us);
  stage.locker(0).release(lease);  // arrives behind the waiter's connection
  stage.run_for(2100us);
  EXPECT_TRUE(next->waiting());  // the news is there; it waits for an answer of the new primary
  stage.run_for(2ms);
  EXPECT_TRUE(next->granted());
  stage.run_for(10s);
  EXPECT_TRUE(Stage::held(next->lease));
  stage.expect_clean();
}

}  // namespace
}  // namespace holdfast::sim

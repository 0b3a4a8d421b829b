// Readers and writers, permits, runs and seats, one story a test.
#include "tests/sim/stage.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {
namespace {

const Use reader{Mode::shared, 1, 0, {}};
Use permits(std::uint32_t count, std::uint32_t limit) { return {Mode::shared, count, limit, {}}; }
Use run(const char* id) { return {Mode::exclusive, 1, 0, id}; }

TEST(DirectedShared, ReadersEnterTogetherAndAWriterStopsThoseBehindIt) {
  Stage stage{5};
  const LeasePtr writer = stage.acquire(0, {.name = "n"});
  std::vector<Stage::WaitPtr> waits;
  for (NodeId id = 1; id < 5; ++id) {
    waits.push_back(stage.start(id, {.name = "n", .use = id == 3 ? Use{} : reader}));
    stage.run_for(100ms);
  }
  stage.locker(0).release(writer);
  stage.run_for(10ms);
  ASSERT_TRUE(waits[0]->granted());
  ASSERT_TRUE(waits[1]->granted());
  EXPECT_TRUE(waits[2]->waiting());
  EXPECT_TRUE(waits[3]->waiting());
  EXPECT_EQ(waits[1]->lease->floor, waits[0]->lease->fence);
  stage.locker(1).release(waits[0]->lease);
  stage.locker(2).release(waits[1]->lease);
  stage.run_for(10ms);
  ASSERT_TRUE(waits[2]->granted());
  stage.locker(3).release(waits[2]->lease);
  stage.run_for(10ms);
  EXPECT_TRUE(waits[3]->granted());
  stage.expect_clean();
}

TEST(DirectedShared, LivingReadersPassOneAnotherInTheGuardAndAWriterEndsThem) {
  Stage stage;
  const LeasePtr first = stage.acquire(0, {.name = "n", .use = reader});
  const LeasePtr second = stage.acquire(1, {.name = "n", .use = reader});
  for (const NodeId id : {1U, 0U, 1U, 0U}) {
    stage.locker(id).write(id == 0 ? first : second);
    stage.run_for(10ms);
  }
  EXPECT_EQ(stage.count(refused), 0U);
  stage.node(0).pause();
  stage.locker(1).release(second);
  const LeasePtr writer = stage.acquire(2, {.name = "n"});
  stage.locker(2).write(writer);
  stage.run_for(10ms);
  stage.locker(0).write(first);  // it had looked before the pause
  stage.run_for(10ms);
  EXPECT_EQ(stage.count(refused), 1U);
  stage.expect_clean();
}

TEST(DirectedShared, ADowngradeLetsReadersInAndKeepsWritersOut) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n"});
  const Stage::WaitPtr other = stage.start(1, {.name = "n", .use = reader});
  stage.run_for(100ms);
  const Stage::WaitPtr writer = stage.start(2, {.name = "n"});
  stage.run_for(100ms);
  stage.locker(0).downgrade(lease);
  stage.run_for(100ms);
  EXPECT_TRUE(other->granted());
  EXPECT_TRUE(writer->waiting());
  EXPECT_TRUE(Stage::held(lease));
  stage.locker(1).release(other->lease);
  stage.locker(0).release(lease);
  stage.run_for(100ms);
  EXPECT_TRUE(writer->granted());
  stage.expect_clean();
}

TEST(DirectedShared, ADowngradeThatGetsNoAnswerIsAskedForAgain) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n"});
  const Stage::WaitPtr other = stage.start(1, {.name = "n", .use = reader});
  stage.run_for(100ms);
  stage.cut(0, true);
  stage.locker(0).downgrade(lease);
  stage.run_for(1s);
  EXPECT_TRUE(other->waiting());
  stage.cut(0, false);
  stage.run_for(5s);
  EXPECT_TRUE(other->granted());
  EXPECT_TRUE(Stage::held(lease));
  stage.expect_clean();
}

TEST(DirectedPermits, ComeBackFromACrashWithinTheTtl) {
  Stage stage;
  stage.acquire(0, {.name = "n", .options = {.ttl = 5s}, .use = permits(3, 4)});
  stage.acquire(1, {.name = "n", .use = permits(1, 4)});
  const Stage::WaitPtr wait = stage.start(2, {.name = "n", .use = permits(2, 4)});
  stage.run_for(10s);
  EXPECT_TRUE(wait->waiting());
  stage.node(0).crash();
  const Duration crashed_at = stage.now();
  stage.finish(wait);
  EXPECT_TRUE(wait->granted());
  EXPECT_LE(stage.now() - crashed_at, 6s);
  stage.expect_clean();
}

// Five are free and three are asked for, but somebody who needs six was first.
TEST(DirectedPermits, AreNotGivenPastWhoeverNeedsMore) {
  Stage stage;
  const LeasePtr holder = stage.acquire(0, {.name = "n", .use = permits(3, 8)});
  const Stage::WaitPtr large = stage.start(1, {.name = "n", .use = permits(6, 8)});
  stage.run_for(100ms);
  const Stage::WaitPtr small = stage.start(2, {.name = "n", .use = permits(2, 8)});
  stage.run_for(5s);
  EXPECT_TRUE(small->waiting());
  stage.locker(0).release(holder);
  stage.run_for(100ms);
  EXPECT_TRUE(large->granted());
  EXPECT_TRUE(small->granted());  // in the same step
  stage.expect_clean();
}

TEST(DirectedPermits, AnotherLimitIsRefusedAndWaitsForNothing) {
  Stage stage;
  stage.acquire(0, {.name = "n", .use = permits(1, 4)});
  const auto other = stage.finish(stage.start(1, {.name = "n", .use = permits(1, 5)}));
  EXPECT_EQ(*other->code, make_error_code(errc::invalid_options));
  const auto lock = stage.finish(stage.start(2, {.name = "n"}));
  EXPECT_EQ(*lock->code, make_error_code(errc::invalid_options));
  stage.expect_clean();
}

TEST(DirectedRun, IsDoneOnceAndThoseWhoWaitForItHearSo) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "job", .use = run("monday")});
  const Stage::WaitPtr same = stage.start(1, {.name = "job", .use = run("monday")});
  stage.run_for(100ms);
  const Stage::WaitPtr next = stage.start(2, {.name = "job", .use = run("tuesday")});
  stage.run_for(100ms);
  stage.locker(0).complete(lease, 1h);
  stage.run_for(100ms);
  EXPECT_EQ(*same->code, make_error_code(errc::already_done));
  EXPECT_TRUE(next->granted());
  stage.locker(2).complete(next->lease, 1h);
  const auto late = stage.finish(stage.start(1, {.name = "job", .use = run("monday")}));
  EXPECT_EQ(*late->code, make_error_code(errc::already_done));
  stage.expect_clean();
}

TEST(DirectedRun, ThatFailsOrCrashesIsTakenOver) {
  Stage stage;
  const LeasePtr first = stage.acquire(0, {.name = "job", .use = run("monday")});
  stage.locker(0).fail(first);
  const LeasePtr second =
      stage.acquire(1, {.name = "job", .options = {.ttl = 5s}, .use = run("monday")});
  stage.node(1).crash();
  const LeasePtr third = stage.acquire(2, {.name = "job", .use = run("monday")});
  EXPECT_GT(third->fence, second->fence);
  stage.locker(2).complete(third, 1h);
  stage.run_for(100ms);
  const auto late = stage.finish(stage.start(0, {.name = "job", .use = run("monday")}));
  EXPECT_EQ(*late->code, make_error_code(errc::already_done));
  stage.expect_clean();
}

// The release with its mark is lost on the way; the client goes on asking until it is answered.
TEST(DirectedRun, IsMarkedAlthoughTheFirstReleaseGotLost) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "job", .use = run("monday")});
  stage.cut(0, true);
  stage.locker(0).complete(lease, 1h);
  stage.run_for(5s);
  stage.cut(0, false);
  stage.run_for(5s);
  const auto late = stage.finish(stage.start(1, {.name = "job", .use = run("monday")}));
  EXPECT_EQ(*late->code, make_error_code(errc::already_done));
  stage.expect_clean();
}

std::string value_in(Stage& stage, const std::string& name) {
  std::string value;
  stage.locker(1).engine().store().inspect(name, [&](const InspectReply& reply) {
    value = std::get<NameView>(reply).holders.at(0).value;
  });
  stage.run_for(100ms);
  return value;
}

TEST(DirectedSeat, SaysWhatItsHolderProclaims) {
  Stage stage;
  const LeasePtr leader = stage.acquire(0, {.name = "seat", .value = "one"});
  EXPECT_EQ(value_in(stage, "seat"), "one");
  stage.locker(0).proclaim(leader, "two");
  stage.locker(0).proclaim(leader, "three");
  stage.run_for(100ms);
  EXPECT_EQ(value_in(stage, "seat"), "three");
  stage.expect_clean();
}

struct GroupWait {
  std::optional<std::error_code> code{};
  std::vector<LeasePtr> leases{};
};

std::shared_ptr<GroupWait> start_all(Stage& stage, NodeId id, const LockerGroupWait& wait) {
  auto result = std::make_shared<GroupWait>();
  stage.locker(id).acquire_all(wait, [result](std::vector<LeasePtr> leases, std::error_code code) {
    result->code = code;
    result->leases = std::move(leases);
  });
  return result;
}

class DirectedGroup : public testing::TestWithParam<bool> {};  // at once, or one after the other

TEST_P(DirectedGroup, HoldsNothingWhileOneNameIsBusy) {
  Stage stage;
  const LeasePtr holder = stage.acquire(0, {.name = "b"});
  const auto both = start_all(stage, 1, {{"a", "b"}, {}, {}, GetParam()});
  stage.run_for(1s);
  EXPECT_FALSE(both->code);
  const LeasePtr other = stage.acquire(2, {.name = "a", .timeout = 0s});
  stage.locker(0).release(holder);
  stage.run_for(1s);
  EXPECT_FALSE(both->code);
  stage.locker(2).release(other);
  stage.run_for(5s);
  ASSERT_EQ(both->leases.size(), 2U);
  stage.expect_clean();
}

TEST_P(DirectedGroup, TwoThatNameThemInAnotherOrderBothGetThrough) {
  Stage stage;
  const auto one = start_all(stage, 0, {{"a", "b", "c"}, {}, {}, GetParam()});
  const auto other = start_all(stage, 1, {{"c", "a"}, {}, {}, GetParam()});
  stage.run_for(1s);
  ASSERT_NE(one->leases.empty(), other->leases.empty());
  const auto& first = one->leases.empty() ? other : one;
  const NodeId id = first == one ? 0 : 1;
  for (const LeasePtr& lease : first->leases) {
    stage.locker(id).release(lease);
  }
  stage.run_for(5s);
  EXPECT_FALSE((first == one ? other : one)->leases.empty());
  stage.expect_clean();
}

TEST_P(DirectedGroup, IsAnsweredByItsDeadlineAndLeavesNothing) {
  Stage stage;
  stage.acquire(0, {.name = "b", .options = {.ttl = 60s}});
  const auto both = start_all(stage, 1, {{"a", "b"}, {}, 3s, GetParam()});
  stage.run_for(1s);
  stage.cut(1, true);
  stage.run_for(2010ms);
  EXPECT_TRUE(both->code && *both->code) << both->code.has_value();
  stage.cut(1, false);
  stage.run_for(5s);
  EXPECT_TRUE(stage.finish(stage.start(2, {.name = "a", .timeout = 0s}))->granted());
  stage.expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Stores, DirectedGroup, testing::Bool(), [](const auto& at_once) {
  return std::string{at_once.param ? "AtOnce" : "OneAfterTheOther"};
});

// A process that stood still past its deadline does not start another wait.
TEST(DirectedGroups, DoesNotOutliveItsDeadlineByAPause) {
  for (Duration pause_at = 0ms; pause_at < 4ms; pause_at += 250us) {
    Stage stage;
    stage.acquire(0, {.name = "b", .options = {.ttl = 60s}});
    stage.acquire(1, {.name = "warm"});
    const auto both = start_all(stage, 1, {{"a", "b"}, {}, 2s, true});
    stage.run_for(pause_at);
    stage.node(1).pause();
    stage.run_for(4s);
    stage.node(1).resume();
    stage.run_for(2s);
    EXPECT_TRUE(both->code && *both->code);
    stage.expect_clean();
  }
}

// The thread that releases is joined before the client is closed, and its release is not forgotten.
TEST(DirectedLease, AReleaseThatGetsNoAnswerOutlivesAShutdownInGoodOrder) {
  Stage stage;
  const LeasePtr lease = stage.acquire(0, {.name = "n", .options = {.ttl = 60s}});
  stage.run_for(1s);
  stage.cut(0, true);
  stage.locker(0).release(lease, true);
  stage.run_for(1s);
  stage.node(0).shut_down();
  stage.cut(0, false);
  stage.run_for(1900ms);
  EXPECT_TRUE(stage.finish(stage.start(1, {.name = "n", .timeout = 0s}))->granted());
  stage.expect_clean();
}

}  // namespace
}  // namespace holdfast::sim

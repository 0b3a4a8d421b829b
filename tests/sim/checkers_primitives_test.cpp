// The checkers of readers, permits, queues, runs and values object to the very thing that each is
// there for, and to nothing less.
#include "tests/sim/told.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using Holders = std::vector<StoreStands::Place>;

StoreStands::Place place(OwnerId owner, const Use& use, std::int64_t fence = 1) {
  return {owner, use, Fence{fence}, false};
}
StoreGranted granted(OwnerId owner, const Use& use, std::int64_t fence, std::int64_t floor) {
  return {"n", owner, Fence{fence}, true, Instant{100s}, use, Fence{floor}};
}

TEST(ExclusionChecker, LetsReadersBesideEachOtherAndNoWriter) {
  Told readers{make_exclusion_checker()};
  readers(with(trusts(0, a, 20s), reader))(with(trusts(1, b, 20s), reader));
  EXPECT_EQ(readers.objections(), 0U);
  EXPECT_EQ(readers(with(trusts(2, c, 20s), writer)).objections(), 2U);
  Told downgraded{make_exclusion_checker()};
  downgraded(with(trusts(0, a, 20s), writer))(with(trusts(0, a, 20s), reader));
  EXPECT_EQ(downgraded(with(trusts(1, b, 20s), reader)).objections(), 0U);
  Told mixed{make_exclusion_checker()};
  mixed(with(trusts(0, a, 20s), reader))(with(trusts(1, b, 20s), permits(1, 5)));
  EXPECT_EQ(mixed.objections(), 1U);
}

TEST(PermitChecker, ObjectsToMoreThanTheLimit) {
  Told told{make_permit_checker()};
  told(with(trusts(0, a, 20s), permits(2, 5)))(with(trusts(1, b, 20s), permits(3, 5)));
  EXPECT_EQ(told.objections(), 0U);
  EXPECT_EQ(told(with(trusts(2, c, 20s), permits(1, 5))).objections(), 1U);
  Told given_back{make_permit_checker()};
  given_back(with(trusts(0, a, 20s), permits(2, 2)))(Ended{0, "n", a});
  EXPECT_EQ(given_back(with(trusts(1, b, 20s), permits(2, 2))).objections(), 0U);
  Told over{make_permit_checker()};
  over(at(1s), with(trusts(0, a, 5s), permits(2, 2)))(at(5s),
                                                      with(trusts(1, b, 20s), permits(2, 2)));
  EXPECT_EQ(over.objections(), 0U);
}

TEST(PermitChecker, CountsWhatAForgetfulStoreLetsThrough) {
  Told told{make_permit_checker()};
  told(with(trusts(0, a, 20s), permits(2, 2)))(forgot({a}));
  told(with(trusts(1, b, 20s), permits(2, 2)));
  EXPECT_EQ(told.objections(), 0U);
  EXPECT_EQ(told.counted(), 1U);
}

TEST(CompanyChecker, ObjectsToRecordsThatMustNotMeet) {
  const auto objections = [](const Holders& holders) {
    Told told{make_company_checker()};
    return told(StoreStands{"n", holders, {}}).objections();
  };
  EXPECT_EQ(objections({place(a, reader), place(b, reader)}), 0U);
  EXPECT_EQ(objections({place(a, reader), place(b, writer)}), 1U);
  EXPECT_EQ(objections({place(a, reader), place(a, reader)}), 1U);
  EXPECT_EQ(objections({place(a, permits(2, 3)), place(b, permits(1, 3))}), 0U);
  EXPECT_EQ(objections({place(a, permits(2, 3)), place(b, permits(2, 3))}), 1U);
  EXPECT_EQ(objections({place(a, permits(1, 3)), place(b, permits(1, 4))}), 1U);
}

TEST(NextChecker, ObjectsToAHeadThatIsLeftOutside) {
  const auto objections = [](const Holders& holders, const StoreStands::Place& next) {
    Told told{make_next_checker()};
    return told(StoreStands{"n", holders, next}).objections();
  };
  EXPECT_EQ(objections({}, place(a, writer)), 1U);
  EXPECT_EQ(objections({place(b, reader)}, place(a, reader)), 1U);
  EXPECT_EQ(objections({place(b, reader)}, place(a, writer)), 0U);
  EXPECT_EQ(objections({place(b, writer)}, place(a, reader)), 0U);
  EXPECT_EQ(objections({place(b, permits(2, 3))}, place(a, permits(1, 3))), 1U);
  EXPECT_EQ(objections({place(b, permits(2, 3))}, place(a, permits(2, 3))), 0U);
}

TEST(FloorChecker, ObjectsToAFloorThatIsNotTheLowestFence) {
  const auto objections = [](std::int64_t floor) {
    Told told{make_floor_checker()};
    told(granted(b, reader, 7, floor));
    told(StoreStands{"n", {place(a, reader, 5), place(b, reader, 7)}, {}});
    return told.objections();
  };
  EXPECT_EQ(objections(5), 0U);
  EXPECT_EQ(objections(7), 1U);  // a's writes would be refused
  EXPECT_EQ(objections(4), 1U);  // writes of somebody gone would be admitted
}

TEST(FloorChecker, ObjectsToAHolderWithAnotherFloor) {
  Told told{make_floor_checker()};
  told(granted(a, reader, 7, 5));
  Trusts lease = with(trusts(0, a, 20s, Fence{7}), reader);
  lease.floor = Fence{5};
  EXPECT_EQ(told(lease).objections(), 0U);
  lease.floor = Fence{7};
  EXPECT_EQ(told(lease).objections(), 1U);
}

TEST(GuardChecker, LetsTheLivingPassOneAnotherAndNobodyBelowTheFloor) {
  const auto wrote = [](OwnerId owner, std::int64_t fence, std::int64_t floor, bool landed) {
    return Wrote{0, "r", owner, Fence{fence}, true, landed, Fence{floor}};
  };
  Told told{make_guard_checker()};
  told(wrote(b, 7, 5, true))(wrote(a, 5, 5, true))(wrote(b, 7, 5, true));
  EXPECT_EQ(told.objections(), 0U);
  EXPECT_EQ(told(wrote(c, 4, 4, true)).objections(), 1U);
  Told living{make_guard_checker()};
  living(trusts(0, a, 50s))(wrote(b, 7, 7, true))(wrote(a, 5, 5, false));
  EXPECT_EQ(living.objections(), 1U);
  Told forgotten{make_guard_checker()};
  forgotten(trusts(0, a, 50s))(forgot({a}))(wrote(b, 7, 7, true))(wrote(a, 5, 5, false));
  EXPECT_EQ(forgotten.objections(), 0U);
}

TEST(RecordChecker, KnowsSeveralHoldersOfOneName) {
  Told told{make_record_checker()};
  told(granted(a, reader, 5, 5))(granted(b, reader, 6, 5));
  told(StoreHolds{"n", a, at(50s)})(StoreHolds{"n", b, at(50s)});
  told(StoreRenewed{"n", a})(StoreAmended{"n", b, Mode::shared})(StoreWithdrew{"n", b, {b}});
  EXPECT_EQ(told.objections(), 0U);
  EXPECT_EQ(told(StoreRenewed{"n", b}).objections(), 1U);
  EXPECT_EQ(told(StoreAmended{"n", b, Mode::shared}).objections(), 2U);
  EXPECT_EQ(told(StoreWithdrew{"n", b, {a}}).objections(), 3U);
}

TEST(OrderChecker, ObjectsToAReaderThatPassesAWriter) {
  const auto queued = [](OwnerId owner, const Use& use) {
    return StoreQueued{"n", owner, 5s, Instant{98s}, use};
  };
  Told told{make_order_checker()};
  told(queued(a, writer))(queued(b, reader))(granted(c, reader, 5, 5));
  EXPECT_EQ(told.objections(), 1U);
  Told run_is_done{make_order_checker()};
  run_is_done(queued(a, writer))(queued(b, reader))(StoreDismissed{"n", a});
  EXPECT_EQ(run_is_done(granted(b, reader, 5, 5)).objections(), 0U);
}

class RunChecker : public testing::Test {
 protected:
  const Use run_{Mode::exclusive, 1, 0, "r"};

  static Ran completed(OwnerId owner) { return {0, "n", "r", owner, RunStep::completed}; }
  static StoreWithdrew withdrew(OwnerId owner) { return {"n", owner, {owner}, 10s, {}}; }
  static StoreMarked marked(OwnerId owner) {
    return {"n", "r", owner, Instant{100s}, Instant{160s}};
  }
  StoreGranted granted_at(OwnerId owner, Duration when) const {
    return {"n", owner, Fence{1}, false, Instant{when}, run_, Fence{1}};
  }
  Told done_by_a() const {
    Told told{make_run_checker()};
    told(granted_at(a, 90s))(completed(a))(withdrew(a))(marked(a));
    return told;
  }
};

TEST_F(RunChecker, AcceptsARunThatIsDoneAndDoneAgainWhenItIsForgotten) {
  Told told = done_by_a();
  told(granted_at(b, 160s));
  EXPECT_EQ(told.objections(), 0U);
  Told replaced = done_by_a();
  StoreForgot state = forgot({});
  state.state_replaced = true;
  EXPECT_EQ(replaced(state)(granted_at(b, 110s)).objections(), 0U);
}

TEST_F(RunChecker, ObjectsToAGrantOfARunThatIsDone) {
  Told told = done_by_a();
  EXPECT_EQ(told(granted_at(b, 159s)).objections(), 1U);
}

TEST_F(RunChecker, ObjectsToTwoWhoAreAtOneRun) {
  Told told{make_run_checker()};
  told(granted_at(a, 90s))(completed(a))(withdrew(a));
  EXPECT_EQ(told(granted_at(b, 100s)).objections(), 1U);  // released without a mark
  EXPECT_EQ(told(marked(a)).objections(), 2U);            // which came in a second step
  EXPECT_EQ(told(with(trusts(1, b, 50s), run_)).objections(), 3U);
}

TEST_F(RunChecker, ObjectsToAMarkByWhoeverHasNotDoneIt) {
  Told not_holder{make_run_checker()};
  not_holder(granted_at(a, 90s))(completed(a))(StoreWithdrew{"n", a, {}, 10s, {}})(marked(a));
  EXPECT_EQ(not_holder.objections(), 1U);
  Told failed{make_run_checker()};
  EXPECT_EQ(failed(granted_at(a, 90s))(withdrew(a))(marked(a)).objections(), 1U);
  Told twice = done_by_a();
  EXPECT_EQ(twice(completed(a))(withdrew(a))(marked(a)).objections(), 1U);
}

TEST_F(RunChecker, ObjectsToNewsOfARunThatIsNotDone) {
  const Fact wanted = Wanted{1, 7, "n", at(50s), run_};
  const Fact refused = Refused{1, 7, "n", make_error_code(errc::already_done)};
  Told told = done_by_a();
  EXPECT_EQ(told(wanted)(refused).objections(), 0U);
  Told never{make_run_checker()};
  EXPECT_EQ(never(wanted)(refused).objections(), 1U);
}

TEST(ValueChecker, ObjectsToAValueThatIsOver) {
  const auto asked = [](Verb verb, const char* value) {
    return Asked{0, verb, "n", a, 1, 10s, value};
  };
  const auto seen = [](const char* value) { return StoreHas{"n", a, false, value}; };
  const auto confirmed = [](const char* value) { return Proclaimed{0, "n", a, value}; };
  Told told{make_value_checker()};
  told(asked(Verb::queue, "1"))(seen("1"))(asked(Verb::amend, "2"))(seen("1"))(seen("2"));
  told(confirmed("2"))(seen("2"));
  EXPECT_EQ(told.objections(), 0U);
  EXPECT_EQ(told(seen("1")).objections(), 1U);
  EXPECT_EQ(told(seen("another's")).objections(), 2U);
  Told late{make_value_checker()};
  late(asked(Verb::queue, "1"))(asked(Verb::amend, "2"));  // not answered
  late(asked(Verb::amend, "3"))(confirmed("3"))(seen("2"))(seen("2"));
  EXPECT_EQ(late.objections(), 0U);
  EXPECT_EQ(late.counted(), 1U);
}

TEST(ProgressChecker, AcceptsARunThatIsDoneAsTheEndOfAWaitForEver) {
  Told told{make_progress_checker()};
  told(Wanted{0, 1, "n"})(Refused{0, 1, "n", make_error_code(errc::already_done)})(Finished{});
  EXPECT_EQ(told.objections(), 0U);
}

class GroupChecker : public testing::Test {
 protected:
  static Asked asked(Verb verb, OwnerId owner) { return {0, verb, "n", owner, 1, 10s, {}}; }
  Told wants_two() const {
    Told told{make_group_checker()};
    told(Wanted{0, 1, "n", WorldTime::max(), {}, 2});
    return told;
  }
};

TEST_F(GroupChecker, AcceptsAllAtOnceAndNone) {
  Told all = wants_two();
  all(asked(Verb::acquire, a))(asked(Verb::acquire, b));
  all(at(9s), trusts(0, a, 20s))(at(9s), asked(Verb::renew, a))(at(9s), trusts(0, b, 20s));
  EXPECT_EQ(all(asked(Verb::renew, b)).objections(), 0U);
  Told none = wants_two();
  none(asked(Verb::queue, a))(granted(a, writer, 5, 5))(asked(Verb::withdraw, a));
  none(asked(Verb::queue, b))(Refused{0, 1, "n", make_error_code(errc::timed_out)});
  EXPECT_EQ(none(Finished{}).objections(), 0U);
}

TEST_F(GroupChecker, ObjectsToHalfOfIt) {
  Told half = wants_two();
  half(asked(Verb::acquire, a))(asked(Verb::acquire, b))(trusts(0, a, 20s));
  EXPECT_EQ(half(Healed{}).objections(), 1U);
  Told renewed = wants_two();
  EXPECT_EQ(renewed(asked(Verb::queue, a))(asked(Verb::renew, a)).objections(), 1U);
  Told waits = wants_two();
  waits(asked(Verb::queue, a))(granted(a, writer, 5, 5));
  EXPECT_EQ(waits(asked(Verb::queue, b)).objections(), 1U);
}

TEST(LeftoverChecker, KnowsThatSeveralOwnersServeOneWait) {
  Told told{make_leftover_checker(4s)};
  told(Wanted{0, 1, "n", WorldTime::max(), {}, 2});
  for (const OwnerId owner : {a, b, c}) {
    told(at(1s), Asked{0, Verb::acquire, "n", owner, 1, 60s, {}});
  }
  told(at(2s), trusts(0, a, 50s))(at(2s), trusts(0, b, 50s));
  told(at(9s), StoreHas{"n", a, false, {}})(at(9s), StoreHas{"n", b, false, {}});
  EXPECT_EQ(told.objections(), 0U);
  EXPECT_EQ(told(at(9s), StoreHas{"n", c, false, {}}).objections(), 1U);  // of an earlier try
}

}  // namespace
}  // namespace holdfast::sim

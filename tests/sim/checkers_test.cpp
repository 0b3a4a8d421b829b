// Each checker objects to the very thing that it is there for, and to nothing less.
#include "tests/sim/told.hpp"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

TEST(ExclusionChecker, ObjectsToTwoTrustedHolders) {
  Told overlap{make_exclusion_checker()};
  EXPECT_EQ(overlap(trusts(0, a, 20s))(trusts(1, b, 20s)).objections(), 1U);
  Told one_after_another{make_exclusion_checker()};
  one_after_another(trusts(0, a, 5s))(at(5s), trusts(1, b, 20s));
  EXPECT_EQ(one_after_another.objections(), 0U);
  Told released{make_exclusion_checker()};
  released(trusts(0, a, 20s))(Ended{0, "n", a})(trusts(1, b, 20s));
  EXPECT_EQ(released.objections(), 0U);
  Told crashed{make_exclusion_checker()};
  EXPECT_EQ(crashed(trusts(0, a, 20s))(Crashed{0})(trusts(1, b, 20s)).objections(), 0U);
}

TEST(ExclusionChecker, CountsWhatAForgetfulStoreLetsThrough) {
  Told overlap{make_exclusion_checker()};
  overlap(trusts(0, a, 20s))(forgot({a}))(trusts(1, b, 20s));
  EXPECT_EQ(overlap.objections(), 0U);
  EXPECT_EQ(overlap.counted(), 1U);
}

TEST(WindowChecker, ObjectsToTrustThatOutlastsTheRecord) {
  Told longer{make_window_checker()};
  EXPECT_EQ(longer(StoreHolds{"n", a, at(10s)})(trusts(0, a, 10s + 1ns)).objections(), 1U);
  Told shorter{make_window_checker()};
  EXPECT_EQ(shorter(StoreHolds{"n", a, at(10s)})(trusts(0, a, 9s)).objections(), 0U);
  Told never_granted{make_window_checker()};
  EXPECT_EQ(never_granted(trusts(0, a, 9s)).objections(), 1U);
}

TEST(WindowChecker, ObjectsToAFixedLeaseThatGoesOn) {
  Told fixed{make_window_checker()};
  Trusts lease = trusts(0, a, 9s);
  lease.fixed = true;
  fixed(StoreHolds{"n", a, at(30s)})(lease);
  EXPECT_EQ(fixed.objections(), 0U);
  lease.until = at(19s);
  EXPECT_EQ(fixed(lease).objections(), 1U);
}

TEST(FenceChecker, ObjectsToAFenceThatDoesNotRise) {
  Told rising{make_fence_checker()};
  rising(StoreGranted{"n", a, Fence{5}})(StoreGranted{"n", b, Fence{6}});
  rising(StoreGranted{"other", c, Fence{1}});
  EXPECT_EQ(rising.objections(), 0U);
  EXPECT_EQ(rising(StoreGranted{"n", c, Fence{6}}).objections(), 1U);
  Told none{make_fence_checker()};
  EXPECT_GT(none(StoreGranted{"n", a, Fence::none}).objections(), 0U);
  Told another{make_fence_checker()};
  EXPECT_EQ(another(StoreGranted{"n", a, Fence{5}})(trusts(0, a, 9s, Fence{6})).objections(), 1U);
}

TEST(FenceChecker, CountsWhatAForgetfulStoreLetsThrough) {
  Told fences{make_fence_checker()};
  StoreForgot fence_state = forgot({});
  fence_state.fences = true;
  fences(StoreGranted{"n", a, Fence{5}})(fence_state)(StoreGranted{"n", b, Fence{5}});
  EXPECT_EQ(fences.objections(), 0U);
  EXPECT_EQ(fences.counted(), 1U);
}

TEST(RecordChecker, ObjectsToHandsOnAnothersRecord) {
  const Fact grant_a = StoreGranted{"n", a, Fence{5}};
  Told renewed{make_record_checker()};
  EXPECT_EQ(renewed(grant_a)(StoreRenewed{"n", b}).objections(), 1U);
  Told removed{make_record_checker()};
  EXPECT_EQ(removed(grant_a)(StoreWithdrew{"n", b, {a}}).objections(), 1U);
  Told own{make_record_checker()};
  EXPECT_EQ(own(grant_a)(StoreRenewed{"n", a})(StoreWithdrew{"n", a, {a}}).objections(), 0U);
}

TEST(RecordChecker, ObjectsToARecordThatComesBack) {
  Told back{make_record_checker()};
  back(StoreGranted{"n", a, Fence{5}})(at(2s), StoreHolds{"n", a, at(5s)});
  EXPECT_EQ(back.objections(), 0U);
  EXPECT_EQ(back(at(6s), StoreHolds{"n", a, at(9s)}).objections(), 1U);
  Told ungranted{make_record_checker()};
  EXPECT_EQ(ungranted(StoreHolds{"n", a, at(5s)}).objections(), 1U);
}

TEST(GuardChecker, ObjectsToAStaleWriteAndToAFreshOneRefused) {
  const auto wrote = [](std::int64_t fence, bool landed) {
    return Wrote{0, "r", a, Fence{fence}, true, landed};
  };
  Told good{make_guard_checker()};
  good(wrote(5, true))(wrote(5, true))(wrote(4, false))(wrote(6, true));
  EXPECT_EQ(good.objections(), 0U);
  EXPECT_EQ(good.counted(), 1U);
  Told stale{make_guard_checker()};
  EXPECT_EQ(stale(wrote(5, true))(wrote(4, true)).objections(), 1U);
  Told fresh{make_guard_checker()};
  EXPECT_EQ(fresh(wrote(5, true))(wrote(6, false)).objections(), 1U);
}

TEST(GuardChecker, CountsStaleWritesWithoutAGuard) {
  Told plain{make_guard_checker()};
  plain(Wrote{0, "r", b, Fence{5}, false, true})(Wrote{0, "r", a, Fence{4}, false, true});
  EXPECT_EQ(plain.objections(), 0U);
  EXPECT_EQ(plain.counted(), 1U);
}

TEST(SilenceChecker, ObjectsToRequestsAfterTheEnd) {
  const auto asked = [](Verb verb) { return Asked{0, verb, "n", a, 1, 10s}; };
  Told renewed{make_silence_checker()};
  renewed(asked(Verb::renew))(Ended{0, "n", a});
  EXPECT_EQ(renewed.objections(), 0U);
  EXPECT_EQ(renewed(asked(Verb::renew)).objections(), 1U);
  Told withdrew{make_silence_checker()};
  withdrew(asked(Verb::withdraw))(asked(Verb::withdraw));
  EXPECT_EQ(withdrew.objections(), 0U);
  EXPECT_EQ(withdrew(asked(Verb::acquire)).objections(), 1U);
}

TEST(LeftoverChecker, ObjectsToALateAcquireBehindATombstone) {
  const StoreWithdrew withdrew{"n", a, {}, 10s, Instant{100s}};
  Told granted{make_leftover_checker(4s)};
  granted(withdrew)(StoreGranted{"n", a, Fence{1}, false, Instant{109s}});
  EXPECT_EQ(granted.objections(), 1U);
  Told queued{make_leftover_checker(4s)};
  EXPECT_EQ(queued(withdrew)(StoreQueued{"n", a, 5s, Instant{101s}}).objections(), 1U);
  Told after_its_life{make_leftover_checker(4s)};
  after_its_life(withdrew)(StoreGranted{"n", a, Fence{1}, false, Instant{110s}});
  EXPECT_EQ(after_its_life.objections(), 0U);
}

TEST(LeftoverChecker, ObjectsToWhatIsLeftInCalmTimes) {
  const auto begun = [](Told& told) {
    told(at(1s), Asked{0, Verb::queue, "n", a, 7, 30s});
    told(at(2s), Refused{0, 7, "n", make_error_code(errc::timed_out)});
  };
  Told left{make_leftover_checker(4s)};
  begun(left);
  EXPECT_EQ(left(at(6s), StoreHas{"n", a, true}).objections(), 0U);
  EXPECT_EQ(left(at(6s + 1ms), StoreHas{"n", a, true}).objections(), 1U);
  Told troubled{make_leftover_checker(4s)};
  begun(troubled);
  troubled(at(3s), Trouble{0, true, "cut"})(at(8s), StoreHas{"n", a, true});
  troubled(at(9s), Trouble{0, false, "cut"})(at(12s), StoreHas{"n", a, true});
  EXPECT_EQ(troubled.objections(), 0U);
  EXPECT_EQ(troubled(at(14s), StoreHas{"n", a, true}).objections(), 1U);
  Told crashed{make_leftover_checker(4s)};
  begun(crashed);
  EXPECT_EQ(crashed(Crashed{0})(at(20s), StoreHas{"n", a, true}).objections(), 0U);
}

TEST(OrderChecker, ObjectsToOvertaking) {
  const auto queued = [](OwnerId owner, Duration when) {
    return StoreQueued{"n", owner, 5s, Instant{when}};
  };
  const auto granted = [](OwnerId owner, Duration when, bool handed_on = true) {
    return StoreGranted{"n", owner, Fence{1}, handed_on, Instant{when}};
  };
  Told overtaken{make_order_checker()};
  overtaken(queued(a, 1s))(queued(b, 2s));
  EXPECT_EQ(overtaken(granted(b, 3s)).objections(), 1U);
  Told from_outside{make_order_checker()};
  EXPECT_EQ(from_outside(queued(a, 1s))(granted(b, 3s, false)).objections(), 1U);
  Told in_order{make_order_checker()};
  in_order(queued(a, 1s))(queued(b, 2s))(queued(a, 3s))(granted(a, 4s))(granted(b, 5s));
  EXPECT_EQ(in_order.objections(), 0U);
  Told dead{make_order_checker()};
  dead(queued(a, 1s))(queued(b, 5s));
  EXPECT_EQ(dead(granted(b, 7s)).objections(), 0U);
  Told handed_to_the_dead{make_order_checker()};
  EXPECT_EQ(handed_to_the_dead(queued(a, 1s))(granted(a, 7s)).objections(), 1U);
}

TEST(LossChecker, ObjectsToSilenceAndToTellingTwice) {
  Told silent{make_loss_checker(10ms)};
  silent(at(1s), trusts(0, a, 5s))(at(5s), Healed{});
  EXPECT_EQ(silent.objections(), 0U);
  EXPECT_EQ(silent(at(6s), Healed{}).objections(), 1U);
  Told twice{make_loss_checker(10ms)};
  twice(at(1s), trusts(0, a, 5s))(at(2s), lost(0, a, errc::expired));
  EXPECT_EQ(twice.objections(), 0U);
  EXPECT_EQ(twice(lost(0, a, errc::expired)).objections(), 1U);
  Told after_release{make_loss_checker(10ms)};
  after_release(trusts(0, a, 5s))(Ended{0, "n", a})(lost(0, a, errc::taken));
  EXPECT_EQ(after_release.objections(), 1U);
}

TEST(LossChecker, WaitsForAPausedNode) {
  Told paused{make_loss_checker(10ms)};
  paused(at(1s), trusts(0, a, 5s))(at(2s), Paused{0, true})(at(9s), Healed{});
  paused(at(10s), Paused{0, false});
  EXPECT_EQ(paused.objections(), 0U);
  EXPECT_EQ(paused(at(11s), Healed{}).objections(), 1U);
}

TEST(NeedlessLossChecker, ObjectsToALossWithoutACause) {
  Told taken{make_needless_loss_checker(4s)};
  EXPECT_EQ(taken(trusts(0, a, 50s))(lost(0, a, errc::taken)).objections(), 1U);
  Told forgotten{make_needless_loss_checker(4s)};
  forgotten(trusts(0, a, 50s))(forgot({a}))(lost(0, a, errc::taken));
  EXPECT_EQ(forgotten.objections(), 0U);
  Told calm{make_needless_loss_checker(4s)};
  calm(trusts(0, a, 50s))(at(49s), lost(0, a, errc::expired));
  EXPECT_EQ(calm.objections(), 1U);
  Told troubled{make_needless_loss_checker(4s)};
  troubled(trusts(0, a, 50s))(at(40s), Trouble{0, true, "cut"})(at(49s), lost(0, a, errc::expired));
  EXPECT_EQ(troubled.objections(), 0U);
}

TEST(DeadlineChecker, ObjectsToALateAnswer) {
  Told late{make_deadline_checker(10ms)};
  late(at(1s), Wanted{0, 1, "n", at(3s)})(at(3s), Healed{});
  EXPECT_EQ(late.objections(), 0U);
  EXPECT_EQ(late(at(4s), Healed{}).objections(), 1U);
  Told cancelled{make_deadline_checker(10ms)};
  cancelled(at(1s), Wanted{0, 1, "n"})(at(2s), Due{1, at(2s)});
  EXPECT_EQ(cancelled(at(3s), Healed{}).objections(), 1U);
}

TEST(ProgressChecker, ObjectsToAWaitThatIsNeverServed) {
  Told open{make_progress_checker()};
  EXPECT_EQ(open(Wanted{0, 1, "n"})(Finished{}).objections(), 1U);
  Told served{make_progress_checker()};
  served(Wanted{0, 1, "n"})(trusts(0, a, 9s))(Finished{});
  EXPECT_EQ(served.objections(), 0U);
  Told given_up{make_progress_checker()};
  given_up(Wanted{0, 1, "n"})(Refused{0, 1, "n", make_error_code(errc::store_unavailable)});
  EXPECT_EQ(given_up.objections(), 1U);
  Told in_circles{make_progress_checker()};
  EXPECT_EQ(in_circles(Stuck{}).objections(), 1U);
}

TEST(ToldChecker, ObjectsToAHolderThatDoesNotHearOfAFailoverAtOnce) {
  StoreForgot failover = forgot({a});
  failover.gone = {a};
  Told late{make_told_checker(100ms)};
  late(trusts(0, a, 60s))(failover)(at(10s), Doubts{0})(at(11s), lost(0, a, errc::taken));
  EXPECT_EQ(late.objections(), 1U);
  Told never{make_told_checker(100ms)};
  never(trusts(0, a, 60s))(failover)(at(10s), Doubts{0})(at(11s), Doubts{1});
  EXPECT_EQ(never.objections(), 1U);
  Told in_time{make_told_checker(100ms)};
  in_time(trusts(0, a, 60s))(failover)(at(10s), Doubts{0});
  in_time(at(10s + 90ms), lost(0, a, errc::taken))(at(11s), Doubts{1});
  EXPECT_EQ(in_time.objections(), 0U);
  Told kept{make_told_checker(100ms)};
  kept(trusts(0, a, 60s))(forgot({a}))(at(10s), Doubts{0})(at(11s), Doubts{1});
  EXPECT_EQ(kept.objections(), 0U);
}

TEST(FenceChecker, ObjectsToARenewalByTheFenceOfAnotherGrant) {
  Told other{make_fence_checker()};
  other(StoreGranted{"n", a, Fence{5}})(trusts(0, a, 60s, Fence{5}))(StoreRenewed{"n", a});
  EXPECT_EQ(other.objections(), 0U);
  other(StoreGranted{"n", a, Fence{7}});
  EXPECT_EQ(other(StoreRenewed{"n", a}).objections(), 1U);
}

TEST(Checkers, LetADeposedPrimaryCountForItself) {
  const auto fences = make_fence_checker();
  fences->hear(StoreGranted{"n", a, Fence{5}}, at(1s));
  fences->heed(1, 1);
  fences->hear(forgot({}), at(2s));
  fences->hear(StoreGranted{"n", b, Fence{9}}, at(3s));
  fences->heed(0, 1);
  fences->hear(StoreGranted{"n", c, Fence{6}}, at(4s));
  EXPECT_TRUE(fences->violations().empty());
  fences->hear(StoreGranted{"n", b, Fence{6}}, at(5s));
  EXPECT_EQ(fences->violations().size(), 1U);
  fences->heed(1, 1);
  fences->hear(StoreGranted{"n", c, Fence{8}}, at(6s));
  EXPECT_EQ(fences->violations().size(), 2U);
}

StoreGranted complete(OwnerId owner, Fence fence, Duration when) {
  StoreGranted granted{"n", owner, fence};
  granted.at = Instant{when};
  return granted;
}

TEST(QuorumFenceChecker, ObjectsToFencesThatRepeatOrAreOutOfOrder) {
  Told heard_late{make_quorum_fence_checker()};
  heard_late(complete(b, Fence{6}, 2s))(complete(a, Fence{5}, 1s))(complete(c, Fence{7}, 3s));
  EXPECT_EQ(heard_late.objections(), 0U);
  Told repeated{make_quorum_fence_checker()};
  repeated(complete(a, Fence{5}, 1s))(complete(b, Fence{5}, 2s));
  EXPECT_EQ(repeated.objections(), 1U);
  Told fell{make_quorum_fence_checker()};
  fell(complete(a, Fence{5}, 1s))(complete(b, Fence{4}, 2s));
  EXPECT_EQ(fell.objections(), 1U);
  Told unknown{make_quorum_fence_checker()};
  EXPECT_EQ(unknown(trusts(0, a, 9s, Fence{5})).objections(), 1U);
}

TEST(QuorumFenceChecker, ObjectsToARenewalAfterALaterGrant) {
  Told renewed{make_quorum_fence_checker()};
  renewed(complete(a, Fence{5}, 1s))(at(2s), trusts(0, a, 10s, Fence{5}));
  renewed(at(4s), complete(b, Fence{6}, 4s))(at(5s), trusts(0, a, 13s, Fence{5}));
  EXPECT_EQ(renewed.objections(), 0U);  // sent before, heard of after
  EXPECT_EQ(renewed(at(9s), trusts(0, a, 18s, Fence{5})).objections(), 1U);
}

}  // namespace
}  // namespace holdfast::sim

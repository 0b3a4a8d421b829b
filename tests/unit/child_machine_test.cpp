#include "core/child_machine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

namespace holdfast {

namespace {

using namespace std::literals;
using Type = ChildAction::Type;

constexpr Duration grace = 1s;

Instant at(Duration since_start) { return Instant{100s + since_start}; }

ChildDeadline until(Duration kill) { return {at(kill - grace), at(kill)}; }

// Started at 0 with the trust window ending at 4 s.
ChildMachine running() {
  ChildMachine machine{grace};
  EXPECT_EQ(machine.start(at(0s), until(4s)), (ChildActions{{Type::spawn}}));
  EXPECT_EQ(machine.spawned(), (ChildActions{{Type::report_started}}));
  return machine;
}

const ChildActions nothing{};
const ChildActions lease_stop{{Type::report_lost}, {Type::stop_tree}};
const ChildActions gone{{Type::report_gone}, {Type::finish}};

TEST(ChildMachine, RunsACommandToItsEnd) {
  ChildMachine machine = running();
  EXPECT_EQ(machine.deadline(), at(3s));
  EXPECT_EQ(machine.main_exited(256), (ChildActions{{Type::report_exited, 256}}));
  EXPECT_FALSE(machine.finished());
  EXPECT_EQ(machine.tree_gone(), gone);
  EXPECT_TRUE(machine.finished());
  EXPECT_EQ(machine.deadline(), std::nullopt);
}

TEST(ChildMachine, SaysNothingBeforeTheStart) {
  ChildMachine machine{grace};
  EXPECT_EQ(machine.deadline(), std::nullopt);
  EXPECT_EQ(machine.on_timer(at(9s)), nothing);
  EXPECT_EQ(machine.forward(at(0s), SIGTERM), nothing);
  EXPECT_EQ(machine.lose(at(0s)), nothing);
  EXPECT_EQ(machine.tree_gone(), nothing);
  EXPECT_EQ(machine.main_exited(0), nothing);
  EXPECT_FALSE(machine.finished());
}

TEST(ChildMachine, StartsOnlyOnce) {
  ChildMachine machine = running();
  EXPECT_EQ(machine.start(at(1s), until(9s)), nothing);
  EXPECT_EQ(machine.deadline(), at(3s));
}

TEST(ChildMachine, RefusesAStartAfterTheDeadline) {
  ChildMachine machine{grace};
  EXPECT_EQ(machine.start(at(3s), until(4s)), (ChildActions{{Type::report_late}, {Type::finish}}));
  EXPECT_TRUE(machine.finished());
}

TEST(ChildMachine, ReportsACommandThatCannotBeStarted) {
  ChildMachine machine{grace};
  machine.start(at(0s), until(4s));
  EXPECT_EQ(machine.spawn_failed(2), (ChildActions{{Type::report_refused, 2}, {Type::finish}}));
  EXPECT_TRUE(machine.finished());
}

TEST(ChildMachine, StopsAtTheDeadlineAndKillsAtTheEndOfTrust) {
  ChildMachine machine = running();
  EXPECT_EQ(machine.on_timer(at(2999ms)), nothing);
  EXPECT_EQ(machine.on_timer(at(3s)), lease_stop);
  EXPECT_EQ(machine.deadline(), at(4s));
  EXPECT_EQ(machine.on_timer(at(3999ms)), nothing);
  EXPECT_EQ(machine.on_timer(at(4s)), (ChildActions{{Type::kill_tree}}));
}

TEST(ChildMachine, KillsAtOnceWhenTheTimerComesLate) {
  ChildMachine machine = running();
  EXPECT_EQ(machine.on_timer(at(60s)),
            (ChildActions{{Type::report_lost}, {Type::stop_tree}, {Type::kill_tree}}));
}

TEST(ChildMachine, LooksAgainUntilTheTreeIsGone) {
  ChildMachine machine = running();
  machine.on_timer(at(3s));
  machine.on_timer(at(4s));
  Instant now = at(4s);
  Duration pause{};
  for (int round = 0; round < 12; ++round) {
    ASSERT_TRUE(machine.deadline());
    const Instant next = *machine.deadline();
    EXPECT_GE(next - now, pause);
    EXPECT_LE(next - now, 1s);
    pause = next - now;
    now = next;
    EXPECT_EQ(machine.on_timer(now - 1ns), nothing);
    EXPECT_EQ(machine.on_timer(now), (ChildActions{{Type::kill_tree}}));
  }
  EXPECT_EQ(pause, 1s);
  EXPECT_EQ(machine.main_exited(9), (ChildActions{{Type::report_exited, 9}}));
  EXPECT_EQ(machine.tree_gone(), gone);
}

TEST(ChildMachine, ARenewalMovesBothInstants) {
  ChildMachine machine = running();
  machine.extend(until(6s));
  EXPECT_EQ(machine.on_timer(at(4s)), nothing);
  EXPECT_EQ(machine.deadline(), at(5s));
  EXPECT_EQ(machine.on_timer(at(5s)), lease_stop);
  EXPECT_EQ(machine.deadline(), at(6s));
}

TEST(ChildMachine, ADeadlineNeverMovesBack) {
  ChildMachine machine = running();
  machine.extend(until(2s));
  EXPECT_EQ(machine.deadline(), at(3s));
}

TEST(ChildMachine, ARenewalAfterTheStopGivesNoSecondLife) {
  ChildMachine machine = running();
  machine.on_timer(at(3s));
  machine.extend(until(60s));
  EXPECT_EQ(machine.on_timer(at(4s)), (ChildActions{{Type::kill_tree}}));
}

TEST(ChildMachine, DescendantsLeftBehindAreHeldToTheDeadline) {
  ChildMachine machine = running();
  machine.main_exited(0);
  EXPECT_EQ(machine.on_timer(at(3s)), lease_stop);
  EXPECT_EQ(machine.on_timer(at(4s)), (ChildActions{{Type::kill_tree}}));
}

TEST(ChildMachine, PassesSignalsOnAndKillsAfterTheGrace) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    ChildMachine machine = running();
    EXPECT_EQ(machine.forward(at(500ms), signal), (ChildActions{{Type::signal_main, signal}}));
    EXPECT_EQ(machine.deadline(), at(1500ms));
    EXPECT_EQ(machine.on_timer(at(1499ms)), nothing);
    EXPECT_EQ(machine.on_timer(at(1500ms)), (ChildActions{{Type::kill_tree}}));
  }
}

TEST(ChildMachine, OtherSignalsStartNoGrace) {
  for (const int signal : {SIGUSR1, SIGUSR2, SIGWINCH}) {
    ChildMachine machine = running();
    EXPECT_EQ(machine.forward(at(500ms), signal), (ChildActions{{Type::signal_main, signal}}));
    EXPECT_EQ(machine.deadline(), at(3s));
  }
}

TEST(ChildMachine, ASecondSignalIsPassedOnButBuysNoTime) {
  ChildMachine machine = running();
  machine.forward(at(500ms), SIGTERM);
  EXPECT_EQ(machine.forward(at(1400ms), SIGINT), (ChildActions{{Type::signal_main, SIGINT}}));
  EXPECT_EQ(machine.on_timer(at(1500ms)), (ChildActions{{Type::kill_tree}}));
}

TEST(ChildMachine, TheGraceOfASignalEndsWithTrustAtTheLatest) {
  ChildMachine machine = running();
  machine.forward(at(2900ms), SIGTERM);
  EXPECT_EQ(machine.on_timer(at(3s)), lease_stop);
  machine.extend(until(60s));
  EXPECT_EQ(machine.on_timer(at(3900ms)), (ChildActions{{Type::kill_tree}}));
}

TEST(ChildMachine, ARenewalGoesOnDuringTheGraceOfASignal) {
  ChildMachine machine = running();
  machine.forward(at(2900ms), SIGTERM);
  machine.extend(until(6s));
  EXPECT_EQ(machine.on_timer(at(3s)), nothing);
  EXPECT_EQ(machine.on_timer(at(3900ms)), (ChildActions{{Type::kill_tree}}));
}

TEST(ChildMachine, ASignalReachesWhatTheMainProcessLeftBehind) {
  ChildMachine machine = running();
  machine.main_exited(0);
  EXPECT_EQ(machine.forward(at(1s), SIGUSR1), nothing);
  EXPECT_EQ(machine.forward(at(1s), SIGTERM), (ChildActions{{Type::stop_tree}}));
  EXPECT_EQ(machine.on_timer(at(2s)), (ChildActions{{Type::kill_tree}}));
}

TEST(ChildMachine, WhatTheMainProcessLeavesOnASignalIsStoppedToo) {
  ChildMachine machine = running();
  machine.forward(at(1s), SIGTERM);
  EXPECT_EQ(machine.main_exited(SIGTERM),
            (ChildActions{{Type::report_exited, SIGTERM}, {Type::stop_tree}}));
  EXPECT_EQ(machine.on_timer(at(2s)), (ChildActions{{Type::kill_tree}}));
}

TEST(ChildMachine, ALossStopsAtOnceAndKillsAfterTheGrace) {
  ChildMachine machine = running();
  EXPECT_EQ(machine.lose(at(1s)), lease_stop);
  EXPECT_EQ(machine.lose(at(1s)), nothing);
  EXPECT_EQ(machine.deadline(), at(2s));
  EXPECT_EQ(machine.on_timer(at(2s)), (ChildActions{{Type::kill_tree}}));
}

TEST(ChildMachine, ALossBuysNoTimeBeyondTheEndOfTrust) {
  ChildMachine machine = running();
  EXPECT_EQ(machine.lose(at(3500ms)), lease_stop);
  EXPECT_EQ(machine.deadline(), at(4s));
}

TEST(ChildMachine, ALossAfterTheEndOfTrustKillsAtOnce) {
  ChildMachine machine = running();
  EXPECT_EQ(machine.lose(at(4s)),
            (ChildActions{{Type::report_lost}, {Type::stop_tree}, {Type::kill_tree}}));
}

TEST(ChildMachine, WithoutAWrapperTheTreeIsKilledAtOnce) {
  ChildMachine machine = running();
  EXPECT_EQ(machine.wrapper_gone(at(1s)), (ChildActions{{Type::kill_tree}}));
  EXPECT_EQ(machine.wrapper_gone(at(1s)), nothing);
  ASSERT_TRUE(machine.deadline());
  EXPECT_EQ(machine.on_timer(*machine.deadline()), (ChildActions{{Type::kill_tree}}));
  EXPECT_EQ(machine.on_timer(at(3s)), (ChildActions{{Type::kill_tree}}));
  machine.main_exited(9);
  EXPECT_EQ(machine.tree_gone(), gone);
}

TEST(ChildMachine, WithoutAWrapperNothingIsStarted) {
  ChildMachine machine{grace};
  EXPECT_EQ(machine.wrapper_gone(at(0s)), (ChildActions{{Type::finish}}));
  EXPECT_TRUE(machine.finished());
  EXPECT_EQ(machine.start(at(0s), until(4s)), nothing);
}

TEST(ChildMachine, WithoutGraceTermAndKillGoTogether) {
  ChildMachine machine{0s};
  machine.start(at(0s), {at(4s), at(4s)});
  EXPECT_EQ(machine.on_timer(at(4s)),
            (ChildActions{{Type::report_lost}, {Type::stop_tree}, {Type::kill_tree}}));
}

TEST(ChildMachine, NothingFollowsTheEnd) {
  ChildMachine machine = running();
  machine.main_exited(0);
  machine.tree_gone();
  EXPECT_EQ(machine.on_timer(at(9s)), nothing);
  EXPECT_EQ(machine.forward(at(9s), SIGTERM), nothing);
  EXPECT_EQ(machine.lose(at(9s)), nothing);
  EXPECT_EQ(machine.wrapper_gone(at(9s)), nothing);
  EXPECT_EQ(machine.main_exited(0), nothing);
  EXPECT_EQ(machine.tree_gone(), nothing);
}

}  // namespace

}  // namespace holdfast

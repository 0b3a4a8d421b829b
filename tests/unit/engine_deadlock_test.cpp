// The engine ends a wait that the waiting thread itself is in the way of.
#include "tests/unit/engine_test.hpp"

namespace holdfast::detail {
namespace {

class EngineDeadlock : public EngineTest {
 protected:
  static constexpr std::uint32_t me = 7;
  static constexpr std::uint32_t another = 8;

  Claim shared(std::uint32_t permits = 1, std::uint32_t limit = 0) {
    Claim made = claim();
    made.mode = Mode::shared;
    made.permits = permits;
    made.limit = limit;
    return made;
  }
  std::shared_ptr<LeaseState> hold_in(std::uint32_t thread, const Claim& granted) {
    const Instant now = runtime_.now();
    const LeaseMachine watchdog{
        {}, {granted.ttl, now, now + granted.ttl - 1s, false}, std::hash<OwnerId>{}(granted.owner)};
    auto lease = std::make_shared<LeaseState>(granted, Fence{9}, Fence{9}, now + granted.ttl - 1s);
    lease->thread = thread;
    engine_->hold(lease, watchdog);
    runtime_.run();
    return lease;
  }
  // A wait that was told "busy" behind `holder` before it came to the engine, as from a lane.
  std::shared_ptr<Ended> wait_in(std::uint32_t thread, const Claim& wanted, const OwnerId& holder) {
    AcquireMachine machine{wanted, {}, {}};
    machine.start(AcquireAction::ask, runtime_.now());
    Busy busy{20s, Holder{}};
    busy.holder->owner = holder;
    const AcquireAction next = machine.on_reply(machine.ask_id(), busy, runtime_.now());
    auto ended = std::make_shared<Ended>();
    engine_->acquire(
        std::move(machine), next,
        [ended](const AcquireMachine& done) {
          ++ended->times;
          ended->result = done.result();
        },
        thread);
    runtime_.run();
    return ended;
  }
  static bool deadlocked(const std::shared_ptr<Ended>& wait) {
    return wait->times == 1 && wait->result.code == errc::would_deadlock;
  }
};

TEST_F(EngineDeadlock, BehindItsOwnLeaseItEndsBeforeItQueues) {
  const auto held = hold_in(me, claim());
  EXPECT_TRUE(deadlocked(wait_in(me, claim(), held->claim.owner)));
  EXPECT_EQ(asked(Verb::acquire), 0U);
  EXPECT_EQ(asked(Verb::withdraw), 0U) << "there is nothing to withdraw";
  EXPECT_EQ(engine_->waiting(), 0U);
}

TEST_F(EngineDeadlock, BehindAnyOtherItWaits) {
  const auto theirs = hold_in(another, claim());
  const auto nobodys = hold_in(no_thread, claim());
  const auto mine = hold_in(me, claim());
  EXPECT_EQ(wait_in(me, claim(), theirs->claim.owner)->times, 0);
  EXPECT_EQ(wait_in(me, claim(), nobodys->claim.owner)->times, 0);
  EXPECT_EQ(wait_in(me, claim(), OwnerId{})->times, 0) << "of another process";
  EXPECT_EQ(wait_in(no_thread, claim(), mine->claim.owner)->times, 0) << "asynchronous";
  EXPECT_EQ(asked(Verb::acquire), 4U);
}

TEST_F(EngineDeadlock, ALeaseThatEndedIsInNobodysWay) {
  const auto held = hold_in(me, claim());
  held->leave_held(LeasePhase::released);
  EXPECT_EQ(wait_in(me, claim(), held->claim.owner)->times, 0) << "before the engine heard of it";
  engine_->forget(held->claim.owner);
  EXPECT_EQ(wait_in(me, claim(), held->claim.owner)->times, 0);
}

TEST_F(EngineDeadlock, OnlyOnceTheStoreSaysSo) {
  const auto held = hold_in(me, claim());
  AcquireMachine machine{claim(), {}, {}};
  machine.start(AcquireAction::ask, runtime_.now());
  const auto next = machine.on_reply(machine.ask_id(), refusal(), runtime_.now());
  const auto ended = std::make_shared<Ended>();
  engine_->acquire(
      std::move(machine), next,
      [ended](const AcquireMachine& done) {
        ++ended->times;
        ended->result = done.result();
      },
      me);
  runtime_.run();
  EXPECT_EQ(ended->times, 0) << "a store that is silent says nothing of who holds";
  runtime_.pass(2s);
  Queued place{20s, Holder{}, Fence{9}};
  place.holder->owner = held->claim.owner;
  answer_acquire(place);
  EXPECT_TRUE(deadlocked(ended));
  ASSERT_EQ(asked(Verb::withdraw), 1U) << "it had a place in the queue by then";
  EXPECT_FALSE(store_->asked().back().options.tombstone) << "the ask was answered";
}

TEST_F(EngineDeadlock, BehindItsOwnShareWhoeverIsNamed) {
  const auto held = hold_in(me, shared());
  const auto more = hold_in(me, shared());
  EXPECT_TRUE(deadlocked(wait_in(me, claim(), OwnerId{})));
  EXPECT_TRUE(deadlocked(wait_in(me, shared(), OwnerId{}))) << "behind a waiting writer";
  EXPECT_EQ(wait_in(another, claim(), held->claim.owner)->times, 0);
  EXPECT_EQ(wait_in(me, claim(30s, "other"), OwnerId{})->times, 0);
  engine_->forget(held->claim.owner);
  EXPECT_TRUE(deadlocked(wait_in(me, claim(), OwnerId{})));
  engine_->forget(more->claim.owner);
  EXPECT_EQ(wait_in(me, claim(), OwnerId{})->times, 0);
}

TEST_F(EngineDeadlock, PermitsAreInTheWayIfTheyExceedTheLimit) {
  const auto held = hold_in(me, shared(2, 5));
  EXPECT_EQ(wait_in(me, shared(3, 5), held->claim.owner)->times, 0) << "others may give back";
  EXPECT_TRUE(deadlocked(wait_in(me, shared(4, 5), held->claim.owner)));
  hold_in(me, shared(3, 5));
  EXPECT_TRUE(deadlocked(wait_in(me, shared(1, 5), held->claim.owner)));
  engine_->forget(held->claim.owner);
  EXPECT_EQ(wait_in(me, shared(1, 5), held->claim.owner)->times, 0);
}

TEST_F(EngineDeadlock, ADowngradedLeaseCountsAsAShare) {
  const auto held = hold_in(me, claim());
  engine_->downgraded(held->claim.owner);
  engine_->downgraded(held->claim.owner);
  EXPECT_EQ(held->claim.mode, Mode::shared);
  EXPECT_TRUE(deadlocked(wait_in(me, claim(), OwnerId{})));
  engine_->forget(held->claim.owner);
  EXPECT_EQ(wait_in(me, claim(), OwnerId{})->times, 0);
  engine_->downgraded(held->claim.owner);  // ended: no effect
}

TEST_F(EngineDeadlock, WhatIsLostIsForgotten) {
  const auto held = hold_in(me, shared());
  runtime_.pass(31s);
  ASSERT_EQ(held->phase.load(), LeasePhase::lost);
  EXPECT_EQ(wait_in(me, claim(), held->claim.owner)->times, 0);
}

}  // namespace
}  // namespace holdfast::detail

// AcquireAllMachine: what it asks, what it gives back, and that no owner asks after a withdraw.
#include "core/acquire_all_machine.hpp"

#include "core/trust.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using enum AcquireAllAction;

Instant at(Duration time) { return Instant{1h + time}; }

Claim claim_of(const std::string& name, std::uint8_t owner) {
  Claim claim;
  claim.name = name;
  claim.owner.bytes[0] = owner;
  claim.ttl = 30s;
  return claim;
}

Failed silence() { return {errc::outcome_unknown, true, "no answer in 2s"}; }
Failed refusal() { return {errc::store_unavailable, false, "connection refused"}; }

class AcquireAll : public ::testing::Test {
 protected:
  void make(bool at_once, std::optional<Duration> deadline = std::nullopt) {
    machine_.emplace(std::vector{claim_of("a", 1), claim_of("b", 2), claim_of("c", 3)},
                     std::nullopt, deadline ? std::optional{at(*deadline)} : std::nullopt, at_once,
                     [this] {
                       OwnerId owner;
                       owner.bytes[0] = ++last_owner_;
                       return owner;
                     });
  }
  AcquireAllAction all_granted(Duration now) {
    AllGranted all;
    for (std::int64_t i = 0; i < 3; ++i) {
      all.push_back({Fence{10 + i}, Fence{10 + i}, 30s});
    }
    return machine_->on_reply(machine_->ask_id(), AcquireAllReply{all}, at(now));
  }
  AcquireAllAction all_busy(std::size_t which, Duration now) {
    return machine_->on_reply(machine_->ask_id(), AcquireAllReply{AllBusy{which, Busy{20s, {}}}},
                              at(now));
  }
  AcquireAllAction all_failed(const Failed& failed, Duration now) {
    return machine_->on_reply(machine_->ask_id(), AcquireAllReply{failed}, at(now));
  }
  AcquireAllAction one(const AcquireReply& reply, Duration now) {
    return machine_->on_reply(machine_->ask_id(), reply, at(now));
  }
  static AcquireReply granted() { return Granted{Fence{7}, Fence{7}, 30s}; }
  AcquireAllAction queue_granted(Duration now, bool tombstone = false) {
    AcquireResult result;
    result.fence = Fence{9};
    result.floor = Fence{9};
    result.ttl = 30s;
    result.sent = at(now);
    result.trusted_until = at(now) + 27s;
    result.tombstone = tombstone;
    result.provisional = true;
    return machine_->on_queue_end(result, at(now));
  }
  // "a1 b2!": names and owners that were given back; ! with a tombstone.
  std::string given_back() {
    std::string text;
    for (const auto& [claim, options] : machine_->take_give_backs()) {
      EXPECT_FALSE(options.keep_min_hold);
      text += (text.empty() ? "" : " ") + claim.name + std::to_string(claim.owner.bytes[0]) +
              (options.tombstone ? "!" : "");
    }
    return text;
  }
  std::string owners() const {
    std::string text;
    for (const Claim& claim : machine_->claims()) {
      text += (text.empty() ? "" : " ") + std::to_string(claim.owner.bytes[0]);
    }
    return text;
  }
  std::error_code code() const { return machine_->result().code; }

  std::optional<AcquireAllMachine> machine_{};

 private:
  std::uint8_t last_owner_ = 10;
};

TEST_F(AcquireAll, FreeNamesInOneStep) {
  make(true);
  EXPECT_EQ(machine_->start(at(0s)), ask_all);
  EXPECT_FALSE(machine_->next_timer());
  EXPECT_EQ(all_granted(5ms), finish);
  EXPECT_FALSE(code());
  for (const auto& grant : machine_->grants()) {
    EXPECT_EQ(grant->sent, at(0s));
    EXPECT_EQ(grant->trusted_until, trusted_until(at(0s), 30s, default_margin(30s)));
    EXPECT_FALSE(grant->provisional);
    EXPECT_FALSE(grant->tombstone);
  }
  EXPECT_EQ(machine_->grants()[2]->fence, Fence{12});
  EXPECT_EQ(given_back(), "");
}

TEST_F(AcquireAll, WaitsForTheBusyOneThenTriesAll) {
  make(true);
  machine_->start(at(0s));
  EXPECT_EQ(all_busy(1, 5ms), queue);
  EXPECT_EQ(machine_->index(), 1U);
  EXPECT_EQ(given_back(), "") << "nothing was had";
  EXPECT_EQ(machine_->queued_wait().claim().owner, machine_->claims()[1].owner);
  EXPECT_EQ(queue_granted(3s, true), ask_all);
  EXPECT_EQ(owners(), "1 2 3") << "our own claims count as held";
  EXPECT_EQ(all_granted(3s + 5ms), finish);
  EXPECT_TRUE(machine_->grants()[1]->tombstone);
  EXPECT_EQ(machine_->grants()[1]->sent, at(3s)) << "refreshed with the others";
}

TEST_F(AcquireAll, GivesTheOneBackAndWaitsForTheOther) {
  make(true);
  machine_->start(at(0s));
  all_busy(1, 5ms);
  queue_granted(3s);
  EXPECT_EQ(all_busy(2, 3s + 5ms), queue);
  EXPECT_EQ(machine_->index(), 2U);
  EXPECT_EQ(given_back(), "b2");
  EXPECT_EQ(owners(), "1 11 3") << "b asks as somebody new";
}

TEST_F(AcquireAll, CollidingAgainItRests) {
  make(true);
  machine_->start(at(0s));
  all_busy(0, 1ms);
  queue_granted(10ms);
  EXPECT_EQ(all_busy(1, 11ms), queue) << "the first time at once";
  queue_granted(12ms);
  EXPECT_EQ(all_busy(0, 13ms), wait);
  EXPECT_EQ(given_back(), "a1 b2");
  const Instant until = machine_->next_timer().value();
  EXPECT_GT(until, at(13ms));
  EXPECT_LE(until, at(15ms));
  EXPECT_EQ(machine_->on_timer(until), queue);
  EXPECT_EQ(machine_->index(), 0U);
}

TEST_F(AcquireAll, UnansweredTryIsWithdrawnAndTriedAsNewOwners) {
  make(true);
  machine_->start(at(0s));
  EXPECT_EQ(all_failed(silence(), 2s), wait);
  EXPECT_EQ(given_back(), "a1! b2! c3!");
  EXPECT_EQ(owners(), "11 12 13");
  EXPECT_EQ(machine_->on_timer(machine_->next_timer().value()), ask_all);
}

TEST_F(AcquireAll, RefusedTryLeavesNothing) {
  make(true);
  machine_->start(at(0s));
  EXPECT_EQ(all_failed(refusal(), 1ms), wait);
  EXPECT_EQ(given_back(), "");
  EXPECT_EQ(owners(), "1 2 3");
}

TEST_F(AcquireAll, HalfHeldDoesNotOutliveAFailure) {
  make(true);
  machine_->start(at(0s));
  all_busy(1, 5ms);
  queue_granted(3s);
  EXPECT_EQ(all_failed(refusal(), 3s + 5ms), wait);
  EXPECT_EQ(given_back(), "b2");
  EXPECT_EQ(machine_->on_timer(machine_->next_timer().value()), ask_all) << "from the start";
}

TEST_F(AcquireAll, LateAnswerProvesNothing) {
  make(true);
  machine_->start(at(0s));
  EXPECT_EQ(all_granted(28s), wait);
  EXPECT_EQ(given_back(), "a1 b2 c3");
}

TEST_F(AcquireAll, OneAttempt) {
  make(true, 0s);
  EXPECT_EQ(machine_->start(at(0s)), ask_all);
  EXPECT_FALSE(machine_->next_timer());
  EXPECT_EQ(all_busy(1, 5ms), finish);
  EXPECT_EQ(code(), errc::busy);
  EXPECT_EQ(given_back(), "");
}

TEST_F(AcquireAll, DeadlineWhileAskingWithdrawsAll) {
  make(true, 5s);
  machine_->start(at(0s));
  EXPECT_EQ(machine_->next_timer(), at(5s));
  EXPECT_EQ(machine_->on_timer(at(5s)), finish);
  EXPECT_EQ(code(), errc::outcome_unknown);
  EXPECT_EQ(given_back(), "a1! b2! c3!");
  EXPECT_EQ(all_granted(6s), finish) << "ignored";
  EXPECT_TRUE(code());
}

TEST_F(AcquireAll, DeadlineAfterBusyIsATimeout) {
  make(true, 5s);
  machine_->start(at(0s));
  all_busy(1, 1ms);
  AcquireResult result;
  result.code = errc::timed_out;
  EXPECT_EQ(machine_->on_queue_end(result, at(5s)), finish);
  EXPECT_EQ(code(), errc::timed_out);
  EXPECT_EQ(given_back(), "") << "the wait has cleaned up after itself";
}

TEST_F(AcquireAll, DeadlineWhileRestingSaysWhatFailed) {
  make(true, 5s);
  machine_->start(at(0s));
  all_failed(refusal(), 4990ms);
  EXPECT_EQ(machine_->on_timer(at(5s)), finish);
  EXPECT_EQ(code(), errc::store_unavailable);
}

TEST_F(AcquireAll, WhatWillNotGetBetterEndsIt) {
  make(true);
  machine_->start(at(0s));
  EXPECT_EQ(all_failed({errc::invalid_options, false, "another limit"}, 1ms), finish);
  EXPECT_EQ(code(), errc::invalid_options);
}

TEST_F(AcquireAll, CancelledWhileAsking) {
  make(true);
  machine_->start(at(0s));
  EXPECT_EQ(machine_->cancel(at(1s)), finish);
  EXPECT_EQ(code(), errc::cancelled);
  EXPECT_EQ(given_back(), "a1! b2! c3!");
}

TEST_F(AcquireAll, CancelledWhileQueueingAGrantThatComesIsGivenBack) {
  make(true);
  machine_->start(at(0s));
  all_busy(0, 1ms);
  EXPECT_EQ(machine_->cancel(at(1s)), wait);
  EXPECT_EQ(queue_granted(1s), finish);
  EXPECT_EQ(code(), errc::cancelled);
  EXPECT_EQ(given_back(), "a1");
}

TEST_F(AcquireAll, OneAfterTheOther) {
  make(false);
  EXPECT_EQ(machine_->start(at(0s)), ask_one);
  EXPECT_EQ(machine_->index(), 0U);
  EXPECT_EQ(one(granted(), 1ms), ask_one);
  EXPECT_EQ(machine_->index(), 1U);
  EXPECT_EQ(one(granted(), 2ms), ask_one);
  EXPECT_EQ(one(granted(), 3ms), finish);
  EXPECT_FALSE(code());
  EXPECT_EQ(machine_->grants()[2]->sent, at(2ms));
}

TEST_F(AcquireAll, OneAfterTheOtherBacksOut) {
  make(false);
  machine_->start(at(0s));
  one(granted(), 1ms);
  EXPECT_EQ(one(Busy{}, 2ms), queue);
  EXPECT_EQ(given_back(), "a1");
  EXPECT_EQ(machine_->index(), 1U);
  EXPECT_EQ(queue_granted(3s), ask_one);
  EXPECT_EQ(machine_->index(), 0U) << "what is in hand is not asked for again";
  EXPECT_EQ(one(granted(), 3s + 1ms), ask_one);
  EXPECT_EQ(machine_->index(), 2U);
  EXPECT_EQ(one(silence(), 5s), wait);
  EXPECT_EQ(given_back(), "c3! a11 b2");
}

TEST_F(AcquireAll, OneAfterTheOtherTooSlowly) {
  make(false);
  machine_->start(at(0s));
  one(granted(), 1ms);
  one(granted(), 20s);
  EXPECT_EQ(one(granted(), 28s), wait) << "the first proves nothing any more";
  EXPECT_EQ(given_back(), "a1 b2 c3");
}

// Found by the simulator: a process that stood still reads "busy" long after its deadline.
TEST_F(AcquireAll, AnAnswerThatIsReadAfterTheDeadlineStartsNoOtherWait) {
  make(true, 5s);
  EXPECT_EQ(machine_->start(at(0s)), ask_all);
  EXPECT_EQ(all_busy(1, 9s), finish);
  EXPECT_EQ(machine_->result().code, errc::timed_out);
  EXPECT_EQ(given_back(), "");
}

}  // namespace
}  // namespace holdfast

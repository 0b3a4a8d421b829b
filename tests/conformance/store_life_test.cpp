// Handlers: once each, never from inside the verb, uncalled after the end. Closing.
#include "tests/conformance/store_test.hpp"

#include <algorithm>
#include <set>

namespace holdfast::conformance {
namespace {

class StoreLife : public StoreTest {};
HOLDFAST_ON_EVERY_STORE(StoreLife);

TEST_P(StoreLife, ManyRequestsAtOnceAreAnsweredOnceEach) {
  constexpr int count = 300;
  std::vector<int> answers(count, 0);
  std::set<Fence> fences;
  for (int i = 0; i < count; ++i) {
    store().store().acquire(claim("name/" + std::to_string(i)), Store::Queueing::no,
                            [&, i](const AcquireReply& reply) {
                              ++answers.at(static_cast<std::size_t>(i));
                              if (const auto* granted = std::get_if<Granted>(&reply)) {
                                fences.insert(granted->fence);
                              }
                            });
  }
  const auto all = [&] {
    return std::ranges::all_of(answers, [](int times) { return times != 0; });
  };
  EXPECT_TRUE(run_until(all, 10s));
  pass(20ms);
  EXPECT_TRUE(std::ranges::all_of(answers, [](int times) { return times == 1; }));
  EXPECT_FALSE(fences.contains(Fence::none));
}

TEST_P(StoreLife, RequestsForOneNameAreTakenInOrder) {
  const Claim a = claim();
  std::vector<std::string> answers;
  store().store().acquire(a, Store::Queueing::no, [&](const AcquireReply& reply) {
    answers.emplace_back(std::holds_alternative<Granted>(reply) ? "granted" : "other");
  });
  store().store().renew(std::span{&a, 1}, [&](const std::vector<RenewReply>& replies) {
    answers.emplace_back(is_renewed(replies.at(0)) ? "renewed" : "other");
  });
  store().store().withdraw(a, {}, [&](const WithdrawReply& reply) {
    answers.emplace_back(std::holds_alternative<Released>(reply) ? "released" : "other");
  });
  EXPECT_TRUE(run_until([&] { return answers.size() == 3; }, 10s));
  EXPECT_EQ(answers, (std::vector<std::string>{"granted", "renewed", "released"}));
  EXPECT_FALSE(holder("job"));
}

TEST_P(StoreLife, AHandlerMayAskAgain) {
  const Claim a = claim();
  int steps = 0;
  store().store().acquire(a, Store::Queueing::no, [&](const AcquireReply&) {
    ++steps;
    store().store().withdraw(a, {}, [&](const WithdrawReply&) { ++steps; });
  });
  EXPECT_TRUE(run_until([&] { return steps == 2; }, 10s));
}

TEST_P(StoreLife, WhatIsPendingAtTheEndIsDestroyedUncalled) {
  const auto token = std::make_shared<int>(0);
  bool called = false;
  for (int i = 0; i < 3; ++i) {
    const Claim a = claim("name/" + std::to_string(i));
    store().store().acquire(a, Store::Queueing::yes,
                            [token, &called](const AcquireReply&) { called = true; });
    store().store().renew(std::span{&a, 1},
                          [token, &called](const std::vector<RenewReply>&) { called = true; });
    store().store().withdraw(a, {}, [token, &called](const WithdrawReply&) { called = true; });
  }
  store().store().close();
  pass(50ms);
  EXPECT_FALSE(called);
  store().close();
  pass(10ms);
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(StoreLife, ClosingFlushesWhatWasSent) {
  const Claim a = claim();
  store().grant(a);
  store().store().withdraw(a, {}, [](const WithdrawReply&) {});
  pass(0ms);  // one turn of the lane
  store().close();
  EXPECT_TRUE(run_until([&] { return second().inspect("job").holders.empty(); }, 1s))
      << "the release went out before the connection ended";
}

// So that no suite is skipped by mistake. A kind that cannot know one of them is named here.
TEST_P(StoreLife, KnowsEveryPrimitive) {
  const Capabilities knows = store().store().capabilities();
  EXPECT_TRUE(knows.queue && knows.wake_ups && knows.ttl);
  EXPECT_TRUE(knows.shared && knows.permits && knows.at_once && knows.runs && knows.values);
}

TEST_P(StoreLife, OpenedAndNeverUsed) {
  place().open();
  const std::unique_ptr<Store> closed = place().open_elsewhere();
  closed->close();
  pass(5ms);
  EXPECT_TRUE(closed->capabilities().queue);
}

}  // namespace
}  // namespace holdfast::conformance

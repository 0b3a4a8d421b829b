// run_exclusive() and run_once(): who runs, what counts as done, and what a loss does.
#include "tests/conformance/client_test.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

namespace holdfast::conformance {
namespace {

class RunExclusive : public ClientTest {};
HOLDFAST_ON_EVERY_CLIENT(RunExclusive);

TEST_P(RunExclusive, HoldsTheLockAndReturnsWhatWorkReturns) {
  Mutex mutex{client(), "job"};
  Mutex theirs{other(), "job"};
  const Fence fence = run_exclusive(mutex, [&](std::stop_token stop, Fence mine) {
    EXPECT_FALSE(stop.stop_requested());
    EXPECT_FALSE(theirs.try_acquire());
    return mine;
  });
  EXPECT_GT(fence, Fence::none);
  EXPECT_TRUE(is_free("job"));
  run_exclusive(mutex, [&](const Lease& lease) { EXPECT_GT(lease.fence(), fence); });
}

TEST_P(RunExclusive, AThrowReleasesAndPassesThrough) {
  Mutex mutex{client(), "job"};
  const auto fail = [](const Lease&) { throw std::runtime_error{"no paper"}; };
  EXPECT_THROW(run_exclusive(mutex, fail), std::runtime_error);
  EXPECT_TRUE(is_free("job"));
}

TEST_P(RunExclusive, IsNotRunWhileSomebodyElseHolds) {
  const Lease theirs = Mutex(other(), "job").acquire();
  Mutex mutex{client(), "job"};
  bool ran = false;
  try {
    run_exclusive(mutex, [&](const Lease&) { ran = true; }, {.timeout = 0s});
    ADD_FAILURE() << "it ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::busy);
  }
  EXPECT_FALSE(ran);
}

TEST_P(RunExclusive, ALossStopsTheWorkAndIsNoSuccess) {
  Mutex mutex{client(), "job", {.ttl = 600ms}};
  try {
    run_exclusive(mutex, [&](const std::stop_token& stop, Fence) {
      other().break_name("job", BreakMode::now);
      EXPECT_TRUE(test::eventually([&] { return stop.stop_requested(); }));
    });
    ADD_FAILURE() << "not held from start to end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::taken);
    EXPECT_EQ(error.code(), failure::ownership_lost);
  }
}

TEST_P(RunExclusive, TheCallersStopReachesTheWork) {
  Mutex mutex{client(), "job"};
  std::stop_source caller;
  run_exclusive(mutex,
                [&](const std::stop_token& stop, Fence) {
                  caller.request_stop();
                  EXPECT_TRUE(stop.stop_requested());
                },
                {.stop = caller.get_token()});
  EXPECT_TRUE(is_free("job"));
}

class RunOnce : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    if (!HasFatalFailure() && !IsSkipped() && !client().capabilities().runs) {
      GTEST_SKIP() << "this store keeps no marks of runs that are done";
    }
  }

  OnceResult run(Client& client, const std::string& run_id, Duration timeout = 0s) {
    const Once once{.job = "report", .run_id = run_id};
    return run_once(client, once, [this](const Lease&) { ++runs_; }, {.timeout = timeout});
  }

  std::atomic<int> runs_{0};
};
HOLDFAST_ON_EVERY_CLIENT(RunOnce);

TEST_P(RunOnce, EachRunIsDoneOnce) {
  EXPECT_EQ(run(client(), "monday"), OnceResult::ran);
  EXPECT_EQ(run(client(), "monday"), OnceResult::already_done);
  EXPECT_EQ(run(other(), "monday"), OnceResult::already_done);
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(run(other(), "tuesday"), OnceResult::ran);
  EXPECT_EQ(runs_, 2);
  EXPECT_TRUE(is_free("report"));
}

TEST_P(RunOnce, ARunThatThrewIsNotDone) {
  const Once once{.job = "report", .run_id = "monday"};
  const auto fail = [](const Lease&) { throw std::runtime_error{"no paper"}; };
  EXPECT_THROW(run_once(client(), once, fail), std::runtime_error);
  EXPECT_TRUE(is_free("report"));
  EXPECT_EQ(run(other(), "monday"), OnceResult::ran);
}

TEST_P(RunOnce, WhileItRunsOthersHearThatItDoes) {
  const Once once{.job = "report", .run_id = "monday"};
  run_once(client(), once, [&](const Lease&) {
    EXPECT_EQ(run(other(), "monday"), OnceResult::running_elsewhere);
    EXPECT_EQ(run(other(), "tuesday"), OnceResult::running_elsewhere) << "one job at a time";
  });
  EXPECT_EQ(runs_, 0);
}

TEST_P(RunOnce, WhoWaitsForTheRunHearsThatItWasDone) {
  const Once once{.job = "report", .run_id = "monday"};
  std::vector<std::future<OnceResult>> waiting;
  run_once(client(), once, [&](const Lease&) {
    for (int i = 0; i < 3; ++i) {
      waiting.push_back(
          std::async(std::launch::async, [&] { return run(other(), "monday", 10s); }));
    }
    ASSERT_TRUE(await_waiters("report", 3));
  });
  for (auto& result : waiting) {
    EXPECT_EQ(result.get(), OnceResult::already_done);
  }
  EXPECT_EQ(runs_, 0);
  EXPECT_TRUE(other().inspect("report").waiters.empty());
}

TEST_P(RunOnce, AWaiterForAnotherRunOfTheJobGoesOn) {
  const Once once{.job = "report", .run_id = "monday"};
  std::future<OnceResult> same;
  std::future<OnceResult> next;
  run_once(client(), once, [&](const Lease&) {
    same = std::async(std::launch::async, [&] { return run(other(), "monday", 10s); });
    ASSERT_TRUE(await_waiters("report", 1));
    next = std::async(std::launch::async, [&] { return run(other(), "tuesday", 10s); });
    ASSERT_TRUE(await_waiters("report", 2));
  });
  EXPECT_EQ(same.get(), OnceResult::already_done);
  EXPECT_EQ(next.get(), OnceResult::ran);
  EXPECT_EQ(runs_, 1);
}

TEST_P(RunOnce, ManyAtOnceRunItOnce) {
  std::vector<std::jthread> threads;
  std::atomic<int> done{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i, &done] {
      const OnceResult result = run(i % 2 == 0 ? client() : other(), "monday", 10s);
      done += result == OnceResult::already_done ? 1 : 0;
    });
  }
  threads.clear();
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(done, 7);
}

TEST_P(RunOnce, ARunThatLostItsLeaseIsNotDoneAndSaysSo) {
  const Once once{.job = "report", .run_id = "monday", .lease = {.ttl = 600ms}};
  try {
    run_once(client(), once, [&](const std::stop_token& stop, Fence) {
      other().break_name("report", BreakMode::now);
      EXPECT_TRUE(test::eventually([&] { return stop.stop_requested(); }));
    });
    ADD_FAILURE() << "it cannot be done";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::taken);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("not marked as done"));
  }
  EXPECT_EQ(run(other(), "monday", 5s), OnceResult::ran);
}

TEST_P(RunOnce, ALossThatIsNoticedOnlyAtTheEndIsOneToo) {
  OnceRun once{client(), {.job = "report", .run_id = "monday"}};
  Lease lease = once.acquire();
  other().break_name("report", BreakMode::now);
  std::error_code ec;
  once.finish(std::move(lease), ec);
  EXPECT_EQ(ec, failure::ownership_lost) << ec.message();
  EXPECT_EQ(run(other(), "monday"), OnceResult::ran);
}

TEST_P(RunOnce, ARunThatWasAbandonedIsTakenOver) {
  OnceRun once{client(), {.job = "report", .run_id = "monday", .lease = {.ttl = 400ms}}};
  once.acquire().abandon();  // as a crash would
  EXPECT_EQ(run(other(), "monday", 5s), OnceResult::ran);
}

TEST_P(RunOnce, TheMarkIsForgottenInTime) {
  const Once once{.job = "report", .run_id = "monday", .remember = 300ms};
  EXPECT_EQ(run_once(client(), once, [](const Lease&) {}), OnceResult::ran);
  EXPECT_EQ(run(other(), "monday"), OnceResult::already_done);
  EXPECT_TRUE(test::eventually([&] { return run(other(), "monday") == OnceResult::ran; }, 3s));
}

TEST_P(RunOnce, TheMarkDoesNotShortenTheLongestHold) {
  const Once once{.job = "report", .run_id = "monday", .lease = {.min_hold = 500ms}};
  EXPECT_EQ(run_once(client(), once, [](const Lease&) {}), OnceResult::ran);
  EXPECT_EQ(run(other(), "tuesday"), OnceResult::running_elsewhere) << "min_hold";
  EXPECT_EQ(run(other(), "monday"), OnceResult::already_done);
  EXPECT_EQ(run(other(), "tuesday", 5s), OnceResult::ran);
}

TEST_P(RunOnce, OnlyALeaseOfTheRunFinishesIt) {
  OnceRun once{client(), {.job = "report", .run_id = "monday"}};
  std::error_code ec;
  once.finish(Lease{}, ec);
  EXPECT_EQ(ec, errc::not_owner);
  once.finish(Mutex(client(), "report").acquire(), ec);
  EXPECT_EQ(ec, errc::invalid_options);
  OnceRun tuesday{client(), {.job = "report", .run_id = "tuesday"}};
  once.finish(tuesday.acquire(), ec);
  EXPECT_EQ(ec, errc::invalid_options);
  EXPECT_TRUE(is_free("report"));
  EXPECT_EQ(run(other(), "monday"), OnceResult::ran);
}

TEST_P(RunOnce, WhatCannotBeIsRefusedBeforeAnythingIsSent) {
  const auto refused = [&](const Once& once) {
    try {
      const OnceRun made{client(), once};
      return std::error_code{};
    } catch (const Error& error) {
      return error.code();
    }
  };
  EXPECT_EQ(refused({.job = "", .run_id = "monday"}), errc::invalid_name);
  EXPECT_EQ(refused({.job = "report", .run_id = ""}), errc::invalid_options);
  EXPECT_EQ(refused({.job = "report", .run_id = "a\nb"}), errc::invalid_options);
  EXPECT_EQ(refused({.job = "report", .run_id = std::string(256, 'x')}), errc::invalid_options);
  EXPECT_EQ(refused({.job = "report", .run_id = "m", .remember = 0s}), errc::invalid_options);
  EXPECT_EQ(refused({.job = "report", .run_id = "m", .remember = -1s}), errc::invalid_options);
  EXPECT_EQ(refused({.job = "report", .run_id = "m", .lease = {.ttl = 1ms}}),
            errc::invalid_options);
  EXPECT_FALSE(refused({.job = "report", .run_id = std::string(255, 'x')}));
}

class RunOnceWithoutMarks : public ClientTest {};
HOLDFAST_ON_EVERY_CLIENT(RunOnceWithoutMarks);

TEST_P(RunOnceWithoutMarks, IsRefused) {
  if (client().capabilities().runs) {
    GTEST_SKIP() << "this store keeps them";
  }
  try {
    const OnceRun made{client(), {.job = "report", .run_id = "monday"}};
    ADD_FAILURE() << "it would run twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::unsupported);
  }
}

}  // namespace
}  // namespace holdfast::conformance

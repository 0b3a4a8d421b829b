#include "runtime/event_loop.hpp"

#include "runtime/random_source.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(EventLoop, PostedCallbacksRunInOrderAndNeverInsideTheCall) {
  EventLoop loop;
  std::vector<int> ran;
  loop.post([&] { ran.push_back(1); });
  loop.post_by(loop.now() + hours(1), [&] { ran.push_back(2); });
  loop.post([&] {
    loop.post([&] { ran.push_back(4); });
    ran.push_back(3);
  });
  EXPECT_TRUE(ran.empty());
  loop.run_until([&] { return ran.size() == 4; });
  EXPECT_EQ(ran, (std::vector{1, 2, 3, 4}));
}

TEST(EventLoop, StopsAfterTheCallbackThatMadeItDone) {
  EventLoop loop;
  int ran = 0;
  for (int i = 0; i < 3; ++i) loop.post([&] { ++ran; });
  loop.run_until([&] { return ran == 1; });
  EXPECT_EQ(ran, 1);
  loop.run_until([&] { return ran >= 1; });
  EXPECT_EQ(ran, 1) << "done before it began";
  loop.run_until([&] { return ran == 3; });
  EXPECT_EQ(ran, 3) << "what was left over runs the next time";
}

TEST(EventLoop, TimersRunInOrderNotEarlyAndNotWhenCancelled) {
  EventLoop loop;
  std::vector<int> ran;
  const Instant start = loop.now();
  loop.call_at(start + milliseconds(10), [&] { ran.push_back(3); });
  loop.call_at(start + milliseconds(5), [&] { ran.push_back(1); });
  loop.call_at(start + milliseconds(5), [&] { ran.push_back(2); });
  const auto cancelled = loop.call_at(start + milliseconds(1), [&] { ran.push_back(0); });
  loop.cancel(cancelled);
  loop.cancel(cancelled);
  loop.run_until([&] { return ran.size() == 3; });
  EXPECT_EQ(ran, (std::vector{1, 2, 3}));
  EXPECT_GE(loop.now(), start + milliseconds(10));
  loop.call_at(start, [&] { ran.clear(); });
  EXPECT_EQ(ran.size(), 3U) << "an instant in the past is not run inside the call";
  loop.run_until([&] { return ran.empty(); });
}

TEST(EventLoop, AnEarlierTimerIsNotHeldUpByALaterOne) {
  EventLoop loop;
  bool early = false;
  loop.call_at(loop.now() + hours(1), [] { ADD_FAILURE(); });
  loop.post([&] { loop.call_at(loop.now() + milliseconds(2), [&] { early = true; }); });
  loop.run_until([&] { return early; });
}

TEST(EventLoop, ACallbackThatPostsItselfDoesNotStarveTimers) {
  EventLoop loop;
  bool fired = false;
  UniqueFunction<void()> again;
  again = [&] { loop.post([&] { again(); }); };
  again();
  loop.call_at(loop.now() + milliseconds(1), [&] { fired = true; });
  loop.run_until([&] { return fired; });
}

TEST(EventLoop, APostWakesASleepingLoop) {
  EventLoop loop;
  std::atomic<bool> running{false};
  bool ran = false;
  std::thread poster([&] {
    while (!running) std::this_thread::yield();
    loop.post([&] { ran = true; });
  });
  loop.post([&] { running = true; });
  loop.run_until([&] { return ran; });
  poster.join();
}

TEST(EventLoop, PostByRunsByItsInstantOnASleepingLoop) {
  EventLoop loop;
  std::atomic<bool> running{false};
  Instant latest{};
  Instant ran{};
  std::thread poster([&] {
    while (!running) std::this_thread::yield();
    latest = loop.now() + milliseconds(20);
    loop.post_by(latest, [&] { ran = loop.now(); });
  });
  loop.post([&] { running = true; });
  loop.run_until([&] { return ran != Instant{}; });
  poster.join();
  EXPECT_LT(ran, latest + milliseconds(500)) << "nothing else woke the loop";
}

TEST(EventLoop, ManyPostBysDoNotGatherForEver) {
  EventLoop loop;
  int ran = 0;
  std::thread poster([&] {
    for (int i = 0; i < 5000; ++i) loop.post_by(loop.now() + hours(1), [&] { ++ran; });
  });
  loop.run_until([&] { return ran > 1024; });
  poster.join();
}

TEST(EventLoop, ManyThreadsPostAndNothingIsLost) {
  EventLoop loop;
  int ran = 0;
  std::vector<std::thread> posters;
  for (int thread = 0; thread < 4; ++thread) {
    posters.emplace_back([&loop, &ran] {
      for (int i = 0; i < 2000; ++i) {
        if (i % 3 == 0) {
          loop.post_by(loop.now() + milliseconds(1), [&ran] { ++ran; });
        } else {
          loop.post([&ran] { ++ran; });
        }
      }
    });
  }
  loop.run_until([&] { return ran == 8000; });
  for (std::thread& poster : posters) poster.join();
}

TEST(EventLoop, WhatIsQueuedWhenItEndsIsDestroyedUnrunAndMayUseTheLoop) {
  const auto witness = std::make_shared<int>(0);
  {
    EventLoop loop;
    struct Cancels {
      EventLoop& loop;
      Runtime::TimerId timer;
      ~Cancels() { loop.cancel(timer); }
    };
    auto owner = std::make_shared<Cancels>(loop, loop.call_at(loop.now(), [witness] { FAIL(); }));
    loop.post([witness, owner] { FAIL(); });
    loop.post_by(loop.now(), [witness] { FAIL(); });
    loop.call_at(loop.now(), [witness, owner] { FAIL(); });
  }
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(EventLoop, WatchesADescriptorUntilTheWatchIsGone) {
  EventLoop loop;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  int seen = 0;
  std::unique_ptr<EventLoop::Watch> watch = loop.watch_readable(ends[0], [&] {
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    if (++seen == 3) watch.reset();
  });
  EXPECT_EQ(write(ends[1], "abcd", 4), 4);
  loop.run_until([&] { return seen == 3; });
  bool settled = false;
  loop.call_at(loop.now() + milliseconds(2), [&] { settled = true; });
  loop.run_until([&] { return settled; });
  EXPECT_EQ(seen, 3);
  close(ends[0]);
  close(ends[1]);
}

TEST(EventLoop, IsFoundBehindARuntime) {
  EventLoop loop;
  Runtime& runtime = loop;
  EXPECT_EQ(&EventLoop::of(runtime), &loop);
}

TEST(RandomSource, NeverRepeatsAndIsNotSharedWithAForkedChild) {
  RandomSource source;
  std::array<std::uint8_t, 16> first{};
  source.fill(first);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  std::array<std::uint8_t, 16> mine{};
  source.fill(mine);
  if (child == 0) {
    static_cast<void>(write(ends[1], mine.data(), mine.size()));
    _exit(0);
  }
  std::array<std::uint8_t, 16> theirs{};
  EXPECT_EQ(read(ends[0], theirs.data(), theirs.size()), 16);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_NE(mine, theirs);
  EXPECT_NE(mine, first);
  std::array<std::uint8_t, 1000> many{};
  source.fill(many);
  EXPECT_NE(many[998] | many[999] | many[0] | many[500], 0);
  close(ends[0]);
  close(ends[1]);
}

TEST(EventLoop, AForkedChildThatDropsItLeavesTheParentsAlone) {
  auto loop = std::make_unique<EventLoop>();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  bool readable = false;
  auto watch = loop->watch_readable(ends[0], [&] { readable = true; });
  bool fired = false;
  loop->call_at(loop->now() + milliseconds(20), [&] { fired = true; });
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    watch.reset();
    loop.reset();
    _exit(0);
  }
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  loop->run_until([&] { return readable && fired; });
  watch.reset();
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace holdfast

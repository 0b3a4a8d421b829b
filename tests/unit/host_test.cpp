#include "runtime/host.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <future>
#include <mutex>
#include <set>
#include <thread>

namespace holdfast {
namespace {

using std::chrono::milliseconds;

TEST(Host, ALoopRunsItsCallbacksOnOneThreadThatTakesNoSignals) {
  const auto host = make_host();
  const auto loop = host->start_loop();
  std::promise<std::thread::id> from_post;
  std::promise<std::thread::id> from_timer;
  std::promise<bool> term_blocked;
  Runtime& runtime = loop->runtime();
  runtime.post([&] {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    term_blocked.set_value(sigismember(&blocked, SIGTERM) == 1);
    from_post.set_value(std::this_thread::get_id());
    runtime.call_at(runtime.now() + milliseconds(1),
                    [&] { from_timer.set_value(std::this_thread::get_id()); });
  });
  const std::thread::id thread = from_post.get_future().get();
  EXPECT_NE(thread, std::this_thread::get_id());
  EXPECT_EQ(thread, from_timer.get_future().get());
  EXPECT_TRUE(term_blocked.get_future().get());
  sigset_t mine;
  pthread_sigmask(SIG_BLOCK, nullptr, &mine);
  EXPECT_EQ(sigismember(&mine, SIGTERM), 0) << "the caller's mask is as before";
  loop->stop();
  loop->stop();
}

TEST(Host, ALaneIsRunByItsCaller) {
  const auto lane = make_host()->make_lane();
  std::thread::id ran;
  lane->post([&] { ran = std::this_thread::get_id(); });
  lane->run_until([&] { return ran != std::thread::id{}; });
  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(Host, NotifierAddsAThreadOnlyWhileTheOthersAreBusyAndAtMost32) {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::thread::id> threads;
  int blocked = 0;
  bool go = false;
  std::atomic<int> ran{0};
  {
    const auto notifier = make_host()->make_notifier();
    for (int i = 0; i < 100; ++i) {
      notifier->post([&] {
        std::unique_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
        ++blocked;
        changed.notify_all();
        changed.wait(lock, [&] { return go; });
        ++ran;
      });
    }
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return blocked == 32; });
    go = true;
    changed.notify_all();
  }
  EXPECT_EQ(ran, 100) << "all that was posted runs before the destructor returns";
  EXPECT_EQ(threads.size(), 32U);
}

TEST(Host, NotifierReusesAnIdleThread) {
  std::set<std::thread::id> threads;
  const auto notifier = make_host()->make_notifier();
  for (int i = 0; i < 100; ++i) {
    std::promise<void> done;
    notifier->post([&] {
      threads.insert(std::this_thread::get_id());
      done.set_value();
    });
    done.get_future().get();
  }
  EXPECT_LT(threads.size(), 32U);
}

TEST(Host, ACallbackMayPostWhileTheNotifierEnds) {
  std::atomic<bool> ran{false};
  {
    const auto notifier = make_host()->make_notifier();
    notifier->post([&, raw = notifier.get()] { raw->post([&] { ran = true; }); });
  }
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace holdfast

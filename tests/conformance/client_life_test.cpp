// Client: what it counts and tells, closing, and forked children.
#include "tests/conformance/client_test.hpp"

#include "runtime/host.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace holdfast::conformance {
namespace {

class ClientLife : public ClientTest {};
HOLDFAST_ON_EVERY_CLIENT(ClientLife);

TEST_P(ClientLife, CountsAndTells) {
  Mutex ours{client(), "job", {.ttl = 900ms}};
  Mutex theirs{other(), "job"};
  Lease lease = ours.acquire();
  EXPECT_EQ(client().counters().granted, 1U);
  EXPECT_EQ(client().counters().held, 1U);
  ASSERT_TRUE(recorder().await(Event::Kind::renewed));
  lease.release();
  const Lease held = theirs.acquire();
  EXPECT_FALSE(ours.try_acquire());
  Async waiting{ours, {.timeout = 30s}};
  ASSERT_TRUE(await_waiters("job", 1));
  EXPECT_EQ(client().counters().waiting, 1U);
  waiting.cancel();
  waiting.get();
  ASSERT_TRUE(recorder().await(Event::Kind::not_granted, 2));
  const Counters counters = client().counters();
  EXPECT_EQ(counters.granted, 1U);
  EXPECT_EQ(counters.not_granted, 2U);
  EXPECT_GE(counters.renewed, 1U);
  EXPECT_EQ(counters.released, 1U);
  EXPECT_EQ(counters.held, 0U);
  EXPECT_EQ(counters.waiting, 0U);
  EXPECT_EQ(counters.lost, 0U);
}

TEST_P(ClientLife, EventsSayWhatHappened) {
  Mutex ours{client(), "job"};
  Mutex theirs{other(), "job"};
  Lease held = theirs.acquire();
  Async waiting{ours, {.timeout = 30s}};
  ASSERT_TRUE(recorder().await(Event::Kind::waiting));
  held.release();
  const Lease lease = waiting.get().lease;
  ASSERT_TRUE(recorder().await(Event::Kind::granted));
  const auto events = recorder().events();
  const auto told = [&](Event::Kind kind) {
    return *std::ranges::find(events, kind, &Event::kind);
  };
  const Event waited = told(Event::Kind::waiting);
  EXPECT_EQ(waited.name, "job");
  EXPECT_EQ(waited.owner, lease.owner());
  EXPECT_EQ(waited.holder.who.host, "there");
  const Event granted = told(Event::Kind::granted);
  EXPECT_EQ(granted.owner, lease.owner());
  EXPECT_EQ(granted.fence, lease.fence());
  EXPECT_FALSE(granted.code);
}

TEST_P(ClientLife, AnObserverThatBlocksDelaysNothing) {
  struct Slow final : Observer {
    void on_event(const Event&) override {
      ++inside;
      while (!go) {
        std::this_thread::sleep_for(1ms);
      }
    }
    std::atomic<int> inside{0};
    std::atomic<bool> go{false};
  } slow;
  {
    Client observed{
        place().factory(), make_host(), {.password = {}, .host = {}, .observer = &slow}};
    Mutex mutex{observed, "job", {.ttl = 300ms, .renew = false}};
    const Lease lease = mutex.acquire();
    Loss loss{lease};
    EXPECT_TRUE(loss.await());
    EXPECT_GE(slow.inside, 1);
    slow.go = true;
  }
}

TEST_P(ClientLife, ClosingEndsWaitsAndGivesBackLeases) {
  Mutex ours{client(), "job"};
  Mutex theirs{other(), "busy"};
  const Lease busy = theirs.acquire();
  Lease held = ours.acquire();
  const Loss loss{held};
  Mutex wanted{client(), "busy"};
  std::error_code blocked;
  std::jthread waiter{[&] { const Lease none = wanted.acquire({}, blocked); }};
  Async async{wanted, {}};
  ASSERT_TRUE(await_waiters("busy", 2));
  client().close();
  waiter.join();
  EXPECT_EQ(blocked, errc::closed);
  EXPECT_EQ(async.get().code, errc::closed);
  EXPECT_FALSE(held.valid());
  EXPECT_FALSE(loss.told()) << "given back is not lost";
  EXPECT_TRUE(is_free("job"));
  EXPECT_TRUE(other().inspect("busy").waiters.empty());
}

TEST_P(ClientLife, ClosedItRefuses) {
  Mutex ours{client(), "job"};
  Lease held = ours.acquire();
  client().close();
  client().close();
  std::error_code ec;
  EXPECT_FALSE(ours.acquire({}, ec));
  EXPECT_EQ(ec, errc::closed);
  EXPECT_FALSE(ours.try_acquire(ec));
  EXPECT_EQ(ec, errc::closed);
  EXPECT_THROW(ours.start_acquire({}, [](std::error_code, Lease) {}), Error);
  EXPECT_THROW(ours.lock(), Error);
  EXPECT_THROW(client().inspect("job"), Error);
  EXPECT_THROW(client().list(), Error);
  held.release(ec);
  EXPECT_FALSE(ec);
  EXPECT_TRUE(is_free("job"));
}

TEST_P(ClientLife, ClosingMeetsAcquires) {
  for (int round = 0; round < 15; ++round) {
    Client closing{place().factory(), make_host()};
    std::vector<std::jthread> threads;
    std::atomic<int> ended{0};
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        Mutex mutex{closing, "job"};
        std::error_code ec;
        while (!ec) {
          Lease lease = mutex.acquire({}, ec);
          if (!ec) {
            std::error_code released;
            lease.release(released);
          }
        }
        EXPECT_EQ(ec, errc::closed);
        ++ended;
      });
    }
    Mutex mutex{closing, "job"};
    std::atomic<int> told{0};
    std::atomic<int> started{0};
    threads.emplace_back([&] {
      try {
        for (;;) {
          mutex.start_acquire({}, [&](std::error_code, Lease) { ++told; });
          ++started;
          std::this_thread::sleep_for(100us);
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), errc::closed);
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds{3 + round});
    closing.close();
    threads.clear();
    EXPECT_EQ(ended, 3);
    EXPECT_EQ(told, started) << "every handler is called once";
  }
  EXPECT_TRUE(test::eventually([&] { return is_free("job"); }, 5s)) << "nothing is left behind";
}

TEST_P(ClientLife, InAForkedChildHandlesAreInert) {
  Mutex mutex{client(), "job", {.ttl = 900ms}};
  std::optional<Lease> lease = mutex.acquire();
  Mutex theirs{other(), "busy"};
  const Lease busy = theirs.acquire();
  Mutex wanted{client(), "busy"};
  Operation waiting = wanted.start_acquire({}, [](std::error_code, Lease) {});
  ASSERT_TRUE(await_waiters("busy", 1));
  const pid_t child = fork();
  if (child == 0) {
    std::error_code ec;
    const bool refused = !lease->valid() && !mutex.acquire({}, ec) && ec == errc::closed;
    waiting.cancel();
    lease->report_stale();
    lease->release(ec);
    const bool inert = ec == errc::closed;
    lease.reset();
    client().close();
    _exit(refused && inert ? 0 : 1);
  }
  int status = -1;
  ASSERT_TRUE(test::eventually([&] { return waitpid(child, &status, WNOHANG) == child; }));
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(is_free("job"));
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(other().inspect("busy").waiters.size(), 1U);
  const std::size_t renewed = recorder().count(Event::Kind::renewed);
  EXPECT_TRUE(recorder().await(Event::Kind::renewed, renewed + 2)) << "the parent goes on";
}

}  // namespace
}  // namespace holdfast::conformance

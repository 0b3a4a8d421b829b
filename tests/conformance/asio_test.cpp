// async_acquire(): Asio's completion tokens, cancellation and executors.
//
// Waits have names here, and nothing is built inside a co_await: g++ 12 destroys such temporaries
// twice.
#include <holdfast/asio.hpp>

#include "tests/conformance/client_test.hpp"

#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <atomic>
#include <thread>

namespace holdfast::conformance {
namespace {

static_assert(Acquirable<Mutex>);
static_assert(Acquirable<SharedMutex>);
static_assert(Acquirable<Semaphore>);

class AsyncAcquire : public ClientTest {
 protected:
  struct Told {
    std::error_code code{};
    Lease lease{};
    int times = 0;
    std::thread::id thread{};
  };
  auto into(Told& told) {
    return [&told](std::error_code code, Lease lease) {
      told.code = code;
      told.lease = std::move(lease);
      told.thread = std::this_thread::get_id();
      ++told.times;
    };
  }
};
HOLDFAST_ON_EVERY_CLIENT(AsyncAcquire);

TEST_P(AsyncAcquire, AFuture) {
  Mutex mutex{client(), "job"};
  std::future<Lease> future = async_acquire(mutex, {}, asio::use_future);
  const Lease lease = future.get();
  EXPECT_TRUE(lease.valid());
  std::future<Lease> second = async_acquire(mutex, {.timeout = 0s}, asio::use_future);
  try {
    const Lease never = second.get();
    ADD_FAILURE() << "it is held";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), errc::busy);
  }
}

TEST_P(AsyncAcquire, TheHandlerRunsOnItsExecutorWhichHasWorkUntilThen) {
  Lease theirs = Mutex(other(), "job").acquire();
  Mutex mutex{client(), "job"};
  asio::io_context context;
  Told told;
  async_acquire(mutex, {}, asio::bind_executor(context, into(told)));
  std::jthread releaser{[&] {
    if (await_waiters("job", 1)) {
      theirs.release();
    }
  }};
  context.run();  // would return at once if it had no work
  EXPECT_EQ(told.times, 1);
  EXPECT_EQ(told.thread, std::this_thread::get_id());
  EXPECT_TRUE(told.lease.valid());
}

TEST_P(AsyncAcquire, ItsCancellationSlotEndsTheWait) {
  const Lease theirs = Mutex(other(), "job").acquire();
  Mutex mutex{client(), "job"};
  asio::io_context context;
  asio::cancellation_signal signal;
  Told told;
  async_acquire(
      mutex, {},
      asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(context, into(told))));
  ASSERT_TRUE(await_waiters("job", 1));
  signal.emit(asio::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(told.times, 1);
  EXPECT_EQ(told.code, errc::cancelled);
  EXPECT_TRUE(test::eventually([&] { return other().inspect("job").waiters.empty(); }));
  signal.emit(asio::cancellation_type::terminal);  // nobody is there any more
}

TEST_P(AsyncAcquire, ACoroutineHoldsAndReleases) {
  Mutex mutex{client(), "job"};
  asio::io_context context;
  bool was_valid = false;
  const auto task = [&]() -> asio::awaitable<void> {
    const Wait wait{.timeout = 5s, .stop = {}};
    Lease lease = co_await async_acquire(mutex, wait, asio::use_awaitable);
    was_valid = lease.valid();
  };
  asio::co_spawn(context, task, asio::detached);
  context.run();
  EXPECT_TRUE(was_valid);
  EXPECT_TRUE(is_free("job"));
}

TEST_P(AsyncAcquire, ACoroutineGivesUpWhenSomethingElseIsFaster) {
  using asio::experimental::awaitable_operators::operator||;
  const Lease theirs = Mutex(other(), "job").acquire();
  Mutex mutex{client(), "job"};
  asio::io_context context;
  std::size_t winner = 0;
  const auto task = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer{co_await asio::this_coro::executor, 100ms};
    const Wait wait;
    auto result = co_await (async_acquire(mutex, wait, asio::use_awaitable) ||
                            timer.async_wait(asio::use_awaitable));
    winner = result.index();
  };
  asio::co_spawn(context, task, asio::detached);
  context.run();
  EXPECT_EQ(winner, 1U);
  EXPECT_TRUE(test::eventually([&] { return other().inspect("job").waiters.empty(); }));
}

TEST_P(AsyncAcquire, TheWaitsOwnStopEndsIt) {
  const Lease theirs = Mutex(other(), "job").acquire();
  Mutex mutex{client(), "job"};
  asio::io_context context;
  std::stop_source stop;
  std::error_code code;
  const auto task = [&]() -> asio::awaitable<void> {
    const Wait wait{.timeout = {}, .stop = stop.get_token()};
    auto token = asio::redirect_error(asio::use_awaitable, code);
    Lease lease = co_await async_acquire(mutex, wait, token);
  };
  asio::co_spawn(context, task, asio::detached);
  std::jthread stopper{[&] {
    if (await_waiters("job", 1)) {
      stop.request_stop();
    }
  }};
  context.run();
  EXPECT_EQ(code, errc::cancelled);
}

TEST_P(AsyncAcquire, ClosingTheClientEndsItAndLaterOnesEndAtOnce) {
  const Lease theirs = Mutex(other(), "job").acquire();
  Mutex mutex{client(), "job"};
  asio::io_context context;
  Told waiting;
  async_acquire(mutex, {}, asio::bind_executor(context, into(waiting)));
  ASSERT_TRUE(await_waiters("job", 1));
  client().close();
  Told late;
  async_acquire(mutex, {}, asio::bind_executor(context, into(late)));
  EXPECT_EQ(late.times, 0) << "never from inside the call";
  context.run();
  EXPECT_EQ(waiting.times, 1);
  EXPECT_EQ(waiting.code, errc::closed);
  EXPECT_EQ(late.times, 1);
  EXPECT_EQ(late.code, errc::closed);
}

TEST_P(AsyncAcquire, ManyCoroutinesOnManyThreadsTakeTurns) {
  Mutex mutex{client(), "job"};
  asio::thread_pool pool{4};
  std::atomic<int> inside{0};
  std::atomic<int> done{0};
  const auto task = [&]() -> asio::awaitable<void> {
    for (int i = 0; i < 3; ++i) {
      const Wait wait;
      Lease lease = co_await async_acquire(mutex, wait, asio::use_awaitable);
      EXPECT_EQ(++inside, 1);
      --inside;
      ++done;
      lease.release();
    }
  };
  for (int i = 0; i < 12; ++i) {
    asio::co_spawn(pool, task, asio::detached);
  }
  pool.join();
  EXPECT_EQ(done, 36);
}

TEST_P(AsyncAcquire, ReadersAndPermits) {
  if (!client().capabilities().shared || !client().capabilities().permits) {
    GTEST_SKIP() << "this store has neither";
  }
  SharedMutex mutex{client(), "job"};
  const Lease one = async_acquire_shared(mutex, {}, asio::use_future).get();
  const Lease two = async_acquire_shared(mutex, {}, asio::use_future).get();
  EXPECT_TRUE(one.valid() && two.valid());
  Semaphore slots{client(), "slots", 3};
  const Lease three = async_acquire(slots, {}, 3, asio::use_future).get();
  EXPECT_TRUE(three.valid());
  EXPECT_FALSE(slots.try_acquire());
}

}  // namespace
}  // namespace holdfast::conformance

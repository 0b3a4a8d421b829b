// A thread that waits for what it holds itself is told so at once, and nothing is left behind.
#include "tests/conformance/client_test.hpp"

#include <mutex>
#include <shared_mutex>
#include <thread>

namespace holdfast::conformance {
namespace {

class WouldDeadlock : public ClientTest {
 protected:
  // The code of a wait that must end at once.
  template <class Face>
  static std::error_code code_of(Face face) {
    const Instant asked = BootClock::now();
    std::error_code code;
    try {
      face();
    } catch (const Error& error) {
      code = error.code();
    }
    EXPECT_LT(BootClock::now() - asked, 2s) << "not at once";
    return code;
  }
};
HOLDFAST_ON_EVERY_CLIENT(WouldDeadlock);

TEST_P(WouldDeadlock, AMutexLockedTwiceByOneThread) {
  Mutex mutex{client(), "job"};
  Mutex same{client(), "job"};
  const std::lock_guard held{mutex};
  EXPECT_EQ(code_of([&] { mutex.lock(); }), errc::would_deadlock);
  EXPECT_EQ(code_of([&] { same.lock(); }), errc::would_deadlock) << "whatever the object";
  std::error_code ec;
  EXPECT_FALSE(same.acquire({.timeout = 30s}, ec));
  EXPECT_EQ(ec, errc::would_deadlock);
  EXPECT_EQ(ec, failure::not_acquired);
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock_for(30s)) << "at once";
  EXPECT_FALSE(mutex.try_acquire());
  EXPECT_FALSE(mutex.acquire({.timeout = 0s}, ec));
  EXPECT_EQ(ec, errc::busy) << "one attempt does not wait";
  EXPECT_TRUE(mutex.lease().valid());
  EXPECT_TRUE(await_waiters("job", 0)) << "it leaves no place in the queue";
}

TEST_P(WouldDeadlock, TheErrorSaysWhatToDo) {
  Mutex mutex{client(), "job"};
  const Lease held = mutex.acquire();
  try {
    const Lease none = mutex.acquire();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::would_deadlock);
    EXPECT_NE(error.detail().find("release"), std::string::npos);
  }
}

TEST_P(WouldDeadlock, NotOnceItWasReleasedOrLost) {
  Mutex mutex{client(), "job"};
  Mutex fixed{client(), "job", {.ttl = 300ms, .renew = false}};
  for (int round = 0; round < 3; ++round) {
    Lease lease = mutex.acquire({.timeout = 5s});
    lease.release();
  }
  Lease lost = fixed.acquire();
  Loss loss{lost};
  ASSERT_TRUE(loss.await());
  std::error_code ec;
  Lease again = mutex.acquire({.timeout = 5s}, ec);
  EXPECT_FALSE(ec) << "its own lost lease is in nobody's way: " << ec.message();
  again.release();
  Lease abandoned = fixed.acquire({.timeout = 5s});
  abandoned.abandon();
  EXPECT_TRUE(mutex.acquire({.timeout = 5s}, ec)) << ec.message();
}

TEST_P(WouldDeadlock, NotBehindAnotherThreadOrClient) {
  Mutex mutex{client(), "job"};
  Mutex theirs{other(), "job"};
  std::error_code ec;
  {
    const Lease held = theirs.acquire();
    EXPECT_FALSE(mutex.acquire({.timeout = 100ms}, ec));
    EXPECT_EQ(ec, errc::timed_out) << "another client: as another process";
  }
  Lease held = mutex.acquire({.timeout = 5s});
  std::jthread{[&] {
    std::error_code in_thread;
    EXPECT_FALSE(mutex.acquire({.timeout = 100ms}, in_thread));
    EXPECT_EQ(in_thread, errc::timed_out);
  }}.join();
  std::jthread{[&] { held.release(); }}.join();
  EXPECT_TRUE(mutex.acquire({.timeout = 5s}, ec)) << "released by whatever thread";
}

TEST_P(WouldDeadlock, AsynchronousAsksBelongToNoThread) {
  Mutex mutex{client(), "job"};
  Async::Answer first = Async{mutex, {}}.get();
  std::error_code ec;
  EXPECT_FALSE(mutex.acquire({.timeout = 100ms}, ec));
  EXPECT_EQ(ec, errc::timed_out) << "whoever has the handler's lease may release it";
  first.lease.release();
  Lease held = mutex.acquire();
  Async waiting{mutex, {}};
  ASSERT_TRUE(await_waiters("job", 1));
  held.release();
  EXPECT_FALSE(waiting.get().code);
}

TEST_P(WouldDeadlock, ALeaseThatOutlivesItsThread) {
  Mutex mutex{client(), "job"};
  Lease held;
  std::jthread{[&] { held = mutex.acquire(); }}.join();
  std::jthread{[&] {  // its std::thread::id is likely the same
    std::error_code ec;
    EXPECT_FALSE(mutex.acquire({.timeout = 100ms}, ec));
    EXPECT_EQ(ec, errc::timed_out);
  }}
      .join();
}

class WouldDeadlockShared : public WouldDeadlock {
 protected:
  void SetUp() override {
    WouldDeadlock::SetUp();
    if (!IsSkipped() && !(client().capabilities().shared && client().capabilities().permits)) {
      GTEST_SKIP() << "this store has neither readers nor semaphores";
    }
  }
};
HOLDFAST_ON_EVERY_CLIENT(WouldDeadlockShared);

TEST_P(WouldDeadlockShared, AReaderThatWantsToWrite) {
  SharedMutex mutex{client(), "doc"};
  SharedMutex theirs{other(), "doc"};
  const Lease another = theirs.acquire_shared();
  const std::shared_lock reading{mutex};
  const Lease one_more = theirs.acquire_shared();
  EXPECT_EQ(code_of([&] { mutex.lock(); }), errc::would_deadlock);
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_TRUE(mutex.shared_lease().valid());
  EXPECT_TRUE(await_waiters("doc", 0));
}

TEST_P(WouldDeadlockShared, AReaderThatReadsOnceMoreBehindAWriter) {
  SharedMutex mutex{client(), "doc"};
  SharedMutex theirs{other(), "doc"};
  std::shared_lock reading{mutex};
  {
    const std::shared_lock again{mutex};
    EXPECT_TRUE(again.owns_lock()) << "while nobody waits it may";
  }
  Async writer{[&](LeaseHandler handler) { return theirs.start_acquire({}, std::move(handler)); }};
  ASSERT_TRUE(await_waiters("doc", 1));
  EXPECT_EQ(code_of([&] { mutex.lock_shared(); }), errc::would_deadlock);
  EXPECT_FALSE(mutex.try_lock_shared());
  ASSERT_TRUE(await_waiters("doc", 1));
  reading.unlock();
  Async::Answer wrote = writer.get();
  EXPECT_FALSE(wrote.code);
  std::error_code ec;
  EXPECT_FALSE(mutex.acquire_shared({.timeout = 100ms}, ec));
  EXPECT_EQ(ec, errc::timed_out) << "its own lease is gone";
}

TEST_P(WouldDeadlockShared, AWriterThatWantsToRead) {
  SharedMutex mutex{client(), "doc"};
  Lease writing = mutex.acquire();
  EXPECT_EQ(code_of([&] { mutex.lock_shared(); }), errc::would_deadlock);
  mutex.downgrade(writing);
  EXPECT_EQ(code_of([&] { mutex.lock(); }), errc::would_deadlock) << "downgraded it still holds";
  const std::shared_lock reading{mutex};
  writing.release();
  EXPECT_EQ(code_of([&] { mutex.lock(); }), errc::would_deadlock) << "the other lease";
}

TEST_P(WouldDeadlockShared, PermitsThatOnlyItsOwnReleaseCouldFree) {
  Semaphore semaphore{client(), "gpu", 3};
  Semaphore theirs{other(), "gpu", 3};
  Lease two = semaphore.acquire({}, 2);
  EXPECT_EQ(code_of([&] { const Lease none = semaphore.acquire({}, 2); }), errc::would_deadlock);
  std::optional<Lease> third = theirs.try_acquire();
  ASSERT_TRUE(third);
  std::error_code ec;
  EXPECT_FALSE(semaphore.acquire({.timeout = 100ms}, ec));
  EXPECT_EQ(ec, errc::timed_out) << "the other holder may give back the third";
  EXPECT_FALSE(semaphore.try_acquire(2));
  third->release();
  Lease last = semaphore.acquire({.timeout = 5s});
  EXPECT_EQ(code_of([&] { const Lease none = semaphore.acquire(); }), errc::would_deadlock);
  two.release();
  EXPECT_TRUE(semaphore.acquire({.timeout = 5s}, ec, 2)) << ec.message();
}

}  // namespace
}  // namespace holdfast::conformance

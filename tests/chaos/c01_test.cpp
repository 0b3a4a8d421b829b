// C01: the request to acquire, or its answer, is lost. The client must not be locked out by its
// own attempt, and an attempt that ends without a grant must leave the name free.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"

#include <atomic>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C01 : public OnEveryStore {
 protected:
  struct Run {
    std::error_code code{};
    Duration took{};
    Duration free_after{};  // from the end of the attempt
  };
  // The network spoils the first request and comes back 300 ms later with a reset.
  Run run(const std::string& name, Fault fault, Duration wait);
  void fifty(const char* title, Fault fault);
  void once_without_waiting(const char* title, Fault fault);
};

C01::Run C01::run(const std::string& name, Fault fault, Duration wait) {
  const auto link = store().link();
  const auto client = link->connect();
  const auto other = store().connect();
  Mutex mine{*client, name, {.ttl = 30s}};
  Mutex theirs{*other, name, {.ttl = 30s}};
  static_cast<void>(client->inspect(name));  // connected: it is the acquire that is hit
  link->fault(fault);
  std::jthread healer{[&] {
    std::this_thread::sleep_for(300ms);
    link->reset();  // before it passes: what was kept back must not arrive after all
    link->fault(Fault::pass);
  }};
  Run seen;
  const Instant start = BootClock::now();
  Lease lease = mine.acquire({.timeout = wait}, seen.code);
  const Instant end = BootClock::now();
  seen.took = end - start;
  if (!seen.code) {
    const NameView view = other->inspect(name);
    EXPECT_EQ(view.holders.size(), 1U);
    if (!view.holders.empty()) {
      EXPECT_EQ(view.holders[0].owner, lease.owner()) << "not the token that the store has";
      EXPECT_EQ(view.holders[0].fence, lease.fence());
    }
    EXPECT_TRUE(lease.valid());
    EXPECT_FALSE(theirs.try_acquire().has_value());
    std::error_code ec;
    lease.release(ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_TRUE(theirs.try_acquire().has_value()) << "the release did not free the name";
    return seen;
  }
  healer.join();
  const Instant reachable = BootClock::now();
  std::error_code ec;
  Lease next = theirs.acquire({.timeout = 5s}, ec);
  EXPECT_FALSE(ec) << "the name is locked by nobody: " << ec.message();
  seen.free_after = BootClock::now() - std::max(end, reachable);
  EXPECT_LE(seen.free_after, 1s);
  return seen;
}

void C01::fifty(const char* title, Fault fault) {
  constexpr int runs = 50;
  std::atomic<int> next{0};
  std::atomic<int> granted{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&] {
      for (int n = next++; n < runs; n = next++) {
        const Run seen = run(title + std::to_string(n), fault, 5s);
        EXPECT_FALSE(seen.code) << title << n << ": " << seen.code.message();
        EXPECT_LE(seen.took, 5s + 250ms);
        granted += seen.code ? 0 : 1;
      }
    });
  }
  threads.clear();
  figure("C01 ", GetParam(), " ", title, ": granted ", granted.load(), " of ", runs);
  EXPECT_EQ(granted, runs);
}

void C01::once_without_waiting(const char* title, Fault fault) {
  const Run seen = run(title, fault, 0s);
  EXPECT_TRUE(!seen.code || seen.code == errc::outcome_unknown) << seen.code.message();
  EXPECT_LE(seen.took, 2s + 250ms) << "longer than one operation";
  figure("C01 ", GetParam(), " ", title, ": ", seen.code ? seen.code.message() : "granted",
         " free_after_ms=", ms(seen.free_after));
}

TEST_P(C01, RequestLost) { fifty("request", Fault::blackhole); }
TEST_P(C01, ReplyLost) { fifty("reply", Fault::swallow); }
TEST_P(C01, RequestLostWithoutWaiting) { once_without_waiting("request0", Fault::blackhole); }
TEST_P(C01, ReplyLostWithoutWaiting) { once_without_waiting("reply0", Fault::swallow); }

CASE_ON_NETWORKED_STORES(C01);

}  // namespace
}  // namespace holdfast::chaos

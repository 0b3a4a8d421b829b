// C17 on every store: the wait's deadline holds whatever the store does, and has nothing to do with
// the TTL. "Busy", "unavailable" and "gave up" are told apart. More in redis_c17_test.cpp.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"

#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C17Store : public OnEveryStore {
 protected:
  // Waits 2 s; the network fails `after` the start. Afterwards the same client works again.
  void run(const std::string& name, Fault fault, Duration after) {
    const auto holder = store().connect();
    const auto link = store().link();
    const auto client = link->connect();
    Mutex mine{*client, name, {.ttl = 30s}};
    std::optional<Lease> held;
    if (after > 0s) {  // somebody must be in the way until the network fails
      held = Mutex{*holder, name, {.ttl = 30s}}.acquire({.timeout = 5s});
    } else {
      link->fault(fault);
    }
    std::jthread breaker{[&] {
      std::this_thread::sleep_for(after);
      link->fault(fault);
      if (fault == Fault::refuse) {
        link->reset();
      }
    }};
    std::error_code ec;
    const Instant start = BootClock::now();
    const Lease none = mine.acquire({.timeout = 2s}, ec);
    const Duration took = BootClock::now() - start;
    EXPECT_GE(took, 2s) << name;
    EXPECT_LE(took, 2s + 500ms) << name;
    EXPECT_EQ(ec, failure::transient) << name << ": " << ec.message();
    figure("C17 ", GetParam(), " ", name, ": ", ms(took), " ms, ", ec.message());
    breaker.join();
    held.reset();
    link->fault(Fault::pass);
    link->reset();
    EXPECT_TRUE(mine.acquire({.timeout = 5s}).valid()) << name << ": needs a restart";
  }
};

TEST_P(C17Store, RefusedOrSilentFromTheStart) {
  std::jthread refused{[&] { run("refused", Fault::refuse, 0s); }};
  run("silent", Fault::blackhole, 0s);
}

TEST_P(C17Store, RefusedOrSilentInMidWait) {
  std::jthread refused{[&] { run("refused1", Fault::refuse, 1s); }};
  run("silent1", Fault::blackhole, 1s);
}

TEST_P(C17Store, TheWaitHasNothingToDoWithTheTtl) {
  const auto holder = store().connect();
  const auto client = store().connect();
  const Lease held = Mutex{*holder, "job", {.ttl = 60s}}.acquire({.timeout = 5s});
  const auto expect_wait = [&](Duration ttl, Duration wait) {
    std::error_code ec;
    const Instant start = BootClock::now();
    const Lease none = Mutex{*client, "job", {.ttl = ttl}}.acquire({.timeout = wait}, ec);
    const Duration took = BootClock::now() - start;
    EXPECT_EQ(ec, wait > 0s ? errc::timed_out : errc::busy) << ec.message();
    EXPECT_GE(took, wait);
    EXPECT_LE(took, wait + 250ms);
  };
  std::jthread one{[&] { expect_wait(1s, short_or_full(4s, 10s)); }};
  std::jthread two{[&] { expect_wait(60s, 2s); }};
  std::jthread three{[&] { expect_wait(60s, 0s); }};
}

TEST_P(C17Store, OneAttemptEndsWithinOneOperation) {
  const auto link = store().link();
  const auto client = link->connect();
  link->fault(Fault::blackhole);
  std::error_code ec;
  const Instant start = BootClock::now();
  const Lease none = Mutex{*client, "job", {.ttl = 30s}}.acquire({.timeout = 0s}, ec);
  EXPECT_LE(BootClock::now() - start, 2s + 250ms);
  EXPECT_EQ(ec, failure::transient) << ec.message();
}

CASE_ON_EVERY_STORE(C17Store);

}  // namespace
}  // namespace holdfast::chaos

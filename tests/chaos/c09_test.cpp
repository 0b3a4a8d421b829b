// C09: zero, negative, tiny and huge times. Each is refused at once with nothing written, or
// honoured; never "no expiry" by accident, never immediate expiry, never a busy loop.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"

#include <ctime>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

double cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

constexpr std::chrono::milliseconds two_to_the_31{INT64_C(1) << 31};
constexpr std::chrono::hours two_to_the_53{(INT64_C(1) << 53) / 3'600'000};

class C09 : public OnEveryStore {};

TEST_P(C09, ImpossibleTtlsAreRefusedWithNothingWritten) {
  const auto client = store().connect();
  const Duration ttls[] = {
      0ms, -1ms, 1ns, 999us, 1ms, two_to_the_53, Duration::max(), Duration::min()};
  for (const Duration ttl : ttls) {
    try {
      const Mutex mutex{*client, "job", {.ttl = ttl}};
      ADD_FAILURE() << ttl.count() << " ns was taken for a TTL";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), errc::invalid_options);
      EXPECT_NE(std::string{error.what()}.find("ttl"), std::string::npos) << error.what();
    }
  }
  EXPECT_TRUE(client->list().names.empty());
  EXPECT_EQ(client->inspect("job").last_fence, Fence::none);
}

TEST_P(C09, PossibleTtlsAreHonoured) {
  const auto client = store().connect();
  const Duration ttls[] = {100ms + 1ns, 1500ms, two_to_the_31, 30 * 24h, ttl_max};
  for (const Duration ttl : ttls) {
    Mutex mutex{*client, "job", {.ttl = ttl, .renew = false}};
    const Lease lease = mutex.acquire({.timeout = 5s});
    const NameView view = client->inspect("job");
    ASSERT_EQ(view.holders.size(), 1U) << ttl.count();
    // Rounded up, and what has passed since is little.
    EXPECT_LE(view.holders[0].ttl_left, ttl + 1ms) << ttl.count();
    EXPECT_GE(view.holders[0].ttl_left, ttl - 90ms) << ttl.count();
    EXPECT_GE(lease.ttl(), ttl);
    EXPECT_TRUE(lease.valid());
  }
}

TEST_P(C09, ShortWaitsAreHonoured) {
  const auto holder = store().connect();
  const auto client = store().connect();
  Mutex theirs{*holder, "job", {.ttl = 30s}};
  Mutex mine{*client, "job", {.ttl = 30s}};
  const Lease held = theirs.acquire({.timeout = 5s});
  for (const Duration wait : {Duration{0}, Duration{-1ms}, Duration::min(), Duration{1ms}}) {
    std::error_code ec;
    const Instant start = BootClock::now();
    const Lease none = mine.acquire({.timeout = wait}, ec);
    EXPECT_EQ(ec, wait > 0ms ? errc::timed_out : errc::busy) << wait.count();
    EXPECT_LE(BootClock::now() - start, 250ms) << wait.count();
  }
  EXPECT_TRUE(held.valid());
}

TEST_P(C09, HugeWaitsAreHonoured) {
  const auto holder = store().connect();
  const auto client = store().connect();
  Mutex theirs{*holder, "job", {.ttl = 30s}};
  Mutex mine{*client, "job", {.ttl = 30s}};
  for (const Duration wait : {Duration{30 * 24h}, Duration{two_to_the_31}, Duration::max()}) {
    Lease held = theirs.acquire({.timeout = 5s});
    const std::jthread releaser{[&] {
      std::this_thread::sleep_for(short_or_full(300ms, 3000ms));
      held.release();
    }};
    const double before = cpu_seconds();
    const Lease lease = mine.acquire({.timeout = wait});
    EXPECT_TRUE(lease.valid()) << wait.count();
    EXPECT_LE(cpu_seconds() - before, 0.2) << "waiting spins";
  }
}

CASE_ON_EVERY_STORE(C09);

}  // namespace
}  // namespace holdfast::chaos

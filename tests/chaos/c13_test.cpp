// C13: two processes with the same host name, pid and time, as containers have them. Who owns a
// lock is decided by random bits from the kernel, never by what can be equal.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/fake_time.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/taker.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/eventually.hpp"

#include <set>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

bool namespaces_allowed() {
  test::Process probe{{.args = {"unshare", "--pid", "--fork", "--uts", "true"}}};
  return probe.wait() == 0;
}

class C13 : public OnEveryStore {
 protected:
  void SetUp() override {
    OnEveryStore::SetUp();
    if (!IsSkipped() && !namespaces_allowed()) {
      GTEST_SKIP() << "no right to make namespaces";
    }
  }

  // Pid 1 (or 2), host "app", and a clock that stands still.
  std::unique_ptr<Taker> twin(const std::string& hold) {
    const std::string start = "hostname app && exec \"$@\"";
    TakerOptions options{.before = {"unshare", "--pid", "--fork", "--mount-proc", "--uts",
                                    "--kill-child", "/bin/sh", "-c", start, "sh"}};
    options.env = {{"LD_PRELOAD", fake_time_preload()},
                   {"FAKETIME", "2026-01-01 00:00:00"},
                   {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}};
    return std::make_unique<Taker>(
        store().url(),
        std::vector<std::string>{"--name", "job", "--ttl", "3s", "--wait", "0", "--hold", hold,
                                 "--on-command", "--loop", "forever"},
        std::move(options));
  }
};

TEST_P(C13, TwinsAreStrangers) {
  const auto a = twin("forever");
  const auto b = twin("forever");
  const auto watcher = store().connect();
  std::set<std::string> owners;
  std::set<std::int64_t> pids;
  std::int64_t last_fence = 0;
  for (int round = 0; round < 10; ++round) {
    Taker& first = round % 2 == 0 ? *a : *b;
    Taker& second = round % 2 == 0 ? *b : *a;
    first.order("acquire");
    ASSERT_TRUE(first.await("granted")) << first.told();
    owners.insert(first.owner());
    EXPECT_GT(first.fence(), last_fence) << "the wall clock that stands still decided";
    last_fence = first.fence();
    second.order("acquire");
    ASSERT_TRUE(second.await("failed")) << second.told() << ": taken as a re-entry";
    EXPECT_TRUE(second.last().starts_with("failed busy")) << second.last();
    const NameView view = watcher->inspect("job");
    ASSERT_EQ(view.holders.size(), 1U);
    EXPECT_EQ(view.holders[0].owner.text(), first.owner());
    EXPECT_EQ(view.holders[0].who.host, "app");
    pids.insert(view.holders[0].who.pid);
    first.order("release");
    ASSERT_TRUE(first.await("released ok")) << first.told();
  }
  EXPECT_EQ(pids.size(), 1U) << "they are no twins: this proves nothing";
  EXPECT_EQ(owners.size(), 10U) << "owners are not random";
}

TEST_P(C13, ARestartedProcessWaitsForTheExpiry) {
  auto a = twin("forever");
  a->order("acquire");
  ASSERT_TRUE(a->await("granted")) << a->told();
  a.reset();  // killed
  const Instant killed = BootClock::now();
  const auto again = twin("forever");
  again->order("acquire");
  ASSERT_TRUE(again->await("failed busy")) << again->told() << ": adopted without its secret";
  const auto granted = [&] {
    again->order("acquire");
    return again->await("granted", 200ms);
  };
  ASSERT_TRUE(test::eventually(granted, 10s)) << again->told();
  const Duration took = BootClock::now() - killed;
  EXPECT_GE(took, 1s);
  EXPECT_LE(took, 3s + 1s);
  figure("C13 ", GetParam(), ": free_after_ms=", ms(took));
}

// B's renewal and release with its own owner do nothing to A's lock, and say so.
TEST_P(C13, AStrangersReleaseChangesNothing) {
  const auto a = twin("forever");
  a->order("acquire");
  ASSERT_TRUE(a->await("granted")) << a->told();
  const std::string owner = a->owner();
  const auto client = store().connect();
  Mutex mutex{*client, "job", {.ttl = 3s}};
  std::error_code ec;
  Lease mine = mutex.acquire({.timeout = 0s}, ec);
  EXPECT_EQ(ec, errc::busy);
  EXPECT_EQ(client->inspect("job").holders.at(0).owner.text(), owner);
  a->order("release");
  EXPECT_TRUE(a->await("released ok")) << a->told();
}

CASE_ON_SHARED_STORES(C13);

}  // namespace
}  // namespace holdfast::chaos

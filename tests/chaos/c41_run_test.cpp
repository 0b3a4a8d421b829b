// C41 for the command: a job that is shorter than the hosts' clocks are apart runs once for each
// run id, whoever comes, whenever it comes, and also after a crash. And what --min-hold, --max-hold
// and --lock-delay do.
#include "tests/chaos/command_test.hpp"
#include "tests/chaos/fake_time.hpp"
#include "tests/chaos/soak.hpp"

#include <holdfast/client.hpp>

#include <algorithm>
#include <csignal>

namespace holdfast::test {
namespace {

class C41Run : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    if (!HasFatalFailure() && !IsSkipped() && !Client{url()}.capabilities().runs) {
      GTEST_SKIP() << "this store keeps no marks of runs that are done";
    }
  }
  ProcessOptions once(const std::string& run_id, const std::string& script,
                      std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--once", run_id});
    return run_script(std::move(more), script);
  }
  std::string lines() const { return content("runs"); }
};
INSTANTIATE_TEST_SUITE_P(Stores, C41Run, command_stores, store_name);

TEST_P(C41Run, SecondCallSaysThatItIsDoneAndIsNoError) {
  Process first{once("monday", "echo $HOLDFAST_FENCE >> runs")};
  EXPECT_EQ(first.wait(), 0) << first.err();
  Process second{once("monday", "echo again >> runs")};
  EXPECT_EQ(second.wait(), 0) << second.err();
  EXPECT_NE(second.err().find("done already"), std::string::npos) << second.err();
  EXPECT_EQ(std::ranges::count(second.err(), '\n'), 1) << second.err();
  EXPECT_EQ(lines().find("again"), std::string::npos);
  Process next{once("tuesday", "echo tuesday >> runs")};
  EXPECT_EQ(next.wait(), 0) << next.err();
  EXPECT_NE(lines().find("tuesday"), std::string::npos);
}

TEST_P(C41Run, FailedCommandIsNotDone) {
  Process first{once("monday", "exit 3")};
  EXPECT_EQ(first.wait(), 3) << first.err();
  Process second{once("monday", "echo ran >> runs")};
  EXPECT_EQ(second.wait(), 0) << second.err();
  EXPECT_EQ(lines(), "ran\n");
}

TEST_P(C41Run, WhoWaitsHearsThatItWasDone) {
  Process first{once("monday", "echo first >> runs; while [ ! -e go ]; do sleep 0.05; done")};
  ASSERT_TRUE(eventually([&] { return lines() == "first\n"; })) << first.err();
  Process busy{once("monday", "echo busy >> runs")};
  EXPECT_EQ(busy.wait(), 75) << busy.err();
  Process waiter{once("monday", "echo waiter >> runs", {"--wait", "30s"})};
  ASSERT_TRUE(eventually([&] { return waiter.err().find("waiting") != std::string::npos; }));
  std::ofstream{file("go")} << "go";
  EXPECT_EQ(first.wait(), 0) << first.err();
  EXPECT_EQ(waiter.wait(), 0) << waiter.err();
  EXPECT_NE(waiter.err().find("done already"), std::string::npos) << waiter.err();
  EXPECT_EQ(lines(), "first\n");
}

TEST_P(C41Run, CrashedRunIsTakenOver) {
  Process first{once("monday", "echo first >> runs; sleep 30", {"--ttl", "1s"})};
  ASSERT_TRUE(eventually([&] { return lines() == "first\n"; })) << first.err();
  first.signal(SIGKILL);
  first.wait();
  Process second{once("monday", "echo second >> runs", {"--wait", "10s"})};
  EXPECT_EQ(second.wait(), 0) << second.err();
  EXPECT_EQ(lines(), "first\nsecond\n");
}

TEST_P(C41Run, BrokenRunIsNotDone) {
  Process first{once("monday", "echo first >> runs; sleep 30", {"--ttl", "2s"})};
  ASSERT_TRUE(eventually([&] { return lines() == "first\n"; })) << first.err();
  Process breaker{command({"break", "n"})};
  EXPECT_EQ(breaker.wait(), 0) << breaker.err();
  EXPECT_EQ(first.wait(), 76) << first.err();
  Process second{once("monday", "echo second >> runs", {"--wait", "10s"})};
  EXPECT_EQ(second.wait(), 0) << second.err();
  EXPECT_EQ(lines(), "first\nsecond\n");
}

// A job that lasts no time at all, begun by many at once and by late ones.
TEST_P(C41Run, ManyHostsRunEachTickOnce) {
  for (int tick = 0; tick < 5; ++tick) {
    std::vector<std::unique_ptr<Process>> hosts;
    const std::string run_id = "2026-11-30T02:0" + std::to_string(tick);
    for (int host = 0; host < 4; ++host) {
      hosts.push_back(std::make_unique<Process>(
          once(run_id, "echo " + run_id + " >> runs", {"--wait", "10s"})));
    }
    for (const auto& host : hosts) {
      EXPECT_EQ(host->wait(), 0) << host->err();
    }
  }
  EXPECT_EQ(std::ranges::count(lines(), '\n'), 5) << lines();
}

TEST_P(C41Run, RememberedAsLongAsAsked) {
  Process first{once("monday", "echo first >> runs", {"--remember", "1s"})};
  EXPECT_EQ(first.wait(), 0) << first.err();
  EXPECT_TRUE(eventually(
      [&] {
        Process again{once("monday", "echo again >> runs", {"-q"})};
        again.wait();
        return lines() == "first\nagain\n";
      },
      5s));
}

// Three hosts whose wall clocks disagree, each of which comes when its own clock says so: the later
// ones find the name free again. One sets its clock back after its run. What names the run is the
// time for which it is scheduled.
class C41Clocks : public C41Run {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("faketime", !chaos::fake_time_library().empty(), chaos::no_fake_time);
    C41Run::SetUp();
  }
  void expect_one_run_a_tick(const std::vector<std::string>& offsets) {
    std::vector<chaos::FakeClock> clocks;
    for (std::size_t host = 0; host < offsets.size(); ++host) {
      clocks.emplace_back(file("clock" + std::to_string(host)), offsets[host]);
    }
    const int ticks = chaos::short_or_full(4, 60);
    for (int tick = 0; tick < ticks; ++tick) {
      const std::string run_id = "tick-" + std::to_string(tick);
      for (const chaos::FakeClock& clock : clocks) {
        ProcessOptions options = once(run_id, "echo " + run_id + " >> runs", {"-q"});
        const auto faked = clock.env();
        options.env.insert(options.env.end(), faked.begin(), faked.end());
        Process host{options};
        EXPECT_EQ(host.wait(), 0) << host.err();
        if (tick == 1) {
          clocks.back().set("-30s");
        }
      }
    }
    EXPECT_EQ(std::ranges::count(lines(), '\n'), ticks) << lines();
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, C41Clocks, command_stores, store_name);

TEST_P(C41Clocks, HostsThatAreCloseTogether) { expect_one_run_a_tick({"-0.7s", "+0", "+0.9s"}); }
TEST_P(C41Clocks, HostsThatAreFarApart) { expect_one_run_a_tick({"-90s", "+0", "+90s"}); }

class HowLong : public CommandTest {};
INSTANTIATE_TEST_SUITE_P(Stores, HowLong, command_stores, store_name);

TEST_P(HowLong, MinHoldKeepsOthersOutAfterTheEnd) {
  const auto before = boot_now();
  Process first{run({"--min-hold", "1500ms"}, {"true"})};
  EXPECT_EQ(first.wait(), 0) << first.err();
  EXPECT_FALSE(is_free());
  Process second{run({"--wait", "10s"}, {"true"})};
  EXPECT_EQ(second.wait(), 0) << second.err();
  EXPECT_GE(boot_now() - before, 1500ms);
}

TEST_P(HowLong, MaxHoldStopsTheCommand) {
  const auto before = boot_now();
  Process first{run({"--ttl", "2s", "--max-hold", "3s", "--json"}, {"sleep", "30"})};
  EXPECT_EQ(first.wait(), 76) << first.err();
  EXPECT_LT(boot_now() - before, 3s);
  EXPECT_NE(first.err().find("\"reason\":\"max_hold\""), std::string::npos) << first.err();
  EXPECT_TRUE(is_free());
}

TEST_P(HowLong, LockDelayKeepsTheNameAfterACrash) {
  Process first{
      run_script({"--ttl", "1s", "--lock-delay", "1500ms"}, "echo x > started; sleep 30")};
  ASSERT_TRUE(eventually([&] { return exists("started"); })) << first.err();
  first.signal(SIGKILL);
  first.wait();
  const auto killed = boot_now();
  Process second{run({"--wait", "10s"}, {"true"})};
  EXPECT_EQ(second.wait(), 0) << second.err();
  EXPECT_GT(boot_now() - killed, 1500ms);
}

}  // namespace
}  // namespace holdfast::test

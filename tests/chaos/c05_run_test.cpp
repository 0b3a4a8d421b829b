// C05, the command's part: the server goes silent, the lock is taken away, the wrapper is stopped.
// L is the instant at which the last confirmed renewal was sent: the work is gone by L + TTL.
#include "tests/chaos/command_test.hpp"
#include "tests/support/fault_proxy.hpp"

#include <algorithm>
#include <csignal>
#include <sstream>

namespace holdfast::test {

namespace {

constexpr auto ttl = 4s;

// Writes the boot clock to a.log all the time, in three processes, one in a session of its own and
// one without a parent; none listens to TERM.
constexpr const char* stubborn =
    "trap '' TERM; busy() { echo $$ >> pids;"
    "while :; do read up idle < /proc/uptime; echo $up >> a.log; sleep 0.05; done; };"
    "setsid sh -c 'trap \"\" TERM; echo $$ >> pids;"
    "while :; do read up idle < /proc/uptime; echo $up >> a.log; sleep 0.05; done' & "
    "(setsid sh -c 'trap \"\" TERM; echo $$ >> pids;"
    "while :; do read up idle < /proc/uptime; echo $up >> a.log; sleep 0.05; done' &);"
    "busy";

class C05 : public CommandTest {
 protected:
  ProcessOptions job(const std::string& store) const {
    ProcessOptions options = run_script({"--ttl", "4s", "--grace", "1s"}, stubborn);
    options.env = {{"HOLDFAST_STORE", store}};
    return options;
  }
  ProcessOptions next() const {
    return run_script({"--wait", "60s"},
                      "read up idle < /proc/uptime; echo $up >> b.log; echo $HOLDFAST_FENCE");
  }
  bool started() const {
    return eventually([&] { return pids().size() >= 3; });
  }
  bool all_gone() const {
    const auto all = pids();
    return std::none_of(all.begin(), all.end(), [](pid_t pid) { return kill(pid, 0) == 0; });
  }
  // Waits until one renewal has certainly been confirmed.
  static void hold_for(Process& process, std::chrono::nanoseconds time) {
    EXPECT_EQ(process.wait(time), std::nullopt) << process.err();
  }
  double last_line(const char* name) const {
    std::istringstream lines{content(name)};
    double last = 0;
    for (double value = 0; lines >> value;) {
      last = std::max(last, value);
    }
    return last;
  }
  // All is gone before silence + TTL, and nobody else started before that.
  void expect_in_time(Process& holder, std::chrono::nanoseconds silence) {
    EXPECT_TRUE(eventually([&] { return all_gone(); }, silence + ttl - boot_now()));
    EXPECT_LT(boot_now(), silence + ttl);
    EXPECT_EQ(holder.wait(5s), 76) << holder.err();
  }
};

class C05Server : public C05 {};

TEST_P(C05Server, TheNetworkOfTheHolderGoesSilent) {
  FaultProxy proxy{redis().port()};
  Process holder{job("redis://127.0.0.1:" + std::to_string(proxy.port()))};
  ASSERT_TRUE(started()) << holder.err();
  Process successor{next()};
  hold_for(holder, 2s);
  proxy.set(FaultProxy::Mode::blackhole);
  expect_in_time(holder, boot_now());
  EXPECT_EQ(successor.wait(6s), 0) << successor.err();
  EXPECT_GT(last_line("b.log"), last_line("a.log") - 0.01);
}

TEST_P(C05Server, TheServerIsFrozen) {
  Process holder{job(url())};
  ASSERT_TRUE(started()) << holder.err();
  Process successor{next()};
  hold_for(holder, 2s);
  redis().freeze();
  expect_in_time(holder, boot_now());
  EXPECT_EQ(successor.wait(500ms), std::nullopt);
  redis().thaw();
  EXPECT_EQ(successor.wait(6s), 0) << successor.err();
  EXPECT_GT(last_line("b.log"), last_line("a.log") - 0.01);
}

TEST_P(C05, TheLockIsTakenAway) {
  Process holder{job(url())};
  ASSERT_TRUE(started()) << holder.err();
  Process breaker{command({"break", "n", "--now"})};
  const auto taken = boot_now();
  EXPECT_EQ(breaker.wait(), 0) << breaker.err();
  // Found at the next renewal, TTL/3 at most; then TERM, and KILL after the grace.
  EXPECT_EQ(holder.wait(4s), 76) << holder.err();
  EXPECT_LT(boot_now() - taken, ttl / 3 + 1s + 500ms);
  EXPECT_TRUE(all_gone());
}

TEST_P(C05, TheLockIsBroken) {
  Process holder{job(url())};
  ASSERT_TRUE(started()) << holder.err();
  Process successor{next()};
  Process breaker{command({"break", "n"})};
  EXPECT_EQ(breaker.wait(), 0) << breaker.err();
  EXPECT_EQ(holder.wait(4s), 76) << holder.err();
  EXPECT_NE(holder.err().find("operator"), std::string::npos) << holder.err();
  EXPECT_EQ(successor.wait(2s), 0) << successor.err();
  EXPECT_GT(last_line("b.log"), last_line("a.log") - 0.01);
}

TEST_P(C05, OnlyTheWrapperIsStopped) {
  Process holder{job(url())};
  ASSERT_TRUE(started()) << holder.err();
  Process successor{next()};
  hold_for(holder, 2s);
  holder.signal(SIGSTOP);
  const auto silence = boot_now();
  EXPECT_TRUE(eventually([&] { return all_gone(); }, ttl));
  EXPECT_LT(boot_now(), silence + ttl);
  EXPECT_EQ(successor.wait(6s), 0) << successor.err();
  EXPECT_GT(last_line("b.log"), last_line("a.log") - 0.01);
  holder.signal(SIGCONT);
  EXPECT_EQ(holder.wait(3s), 76) << holder.err();
}

TEST_P(C05, WithoutRenewalTheCommandHasOneTtl) {
  ProcessOptions options = run_script({"--ttl", "2s", "--grace", "500ms", "--no-renew"}, stubborn);
  const auto start = boot_now();
  Process holder{options};
  EXPECT_EQ(holder.wait(4s), 76) << holder.err();
  EXPECT_LT(boot_now() - start, 2s);
  EXPECT_GT(boot_now() - start, 1s);
  EXPECT_TRUE(all_gone());
}

INSTANTIATE_TEST_SUITE_P(Run, C05, command_stores, store_name);
INSTANTIATE_TEST_SUITE_P(Run, C05Server, ::testing::Values("redis"), store_name);

}  // namespace

}  // namespace holdfast::test

// C35: signals before and during the command; pid 1 and zombies.
#include "tests/chaos/command_test.hpp"
#include "tests/chaos/terminal.hpp"

#include <csignal>

#include <poll.h>
#include <sys/wait.h>

namespace holdfast::test {

namespace {

// Ignores what can be ignored, and so does a child in a session of its own that nobody knows of.
constexpr const char* stubborn =
    "trap '' TERM INT HUP QUIT; echo $$ >> pids;"
    "(setsid sh -c 'echo $$ >> pids; while :; do echo a >> log; sleep 0.02; done' &);"
    "while :; do echo a >> log; sleep 0.02; done";

constexpr const char* polite =
    "for s in TERM INT HUP QUIT; do trap \"sleep 0.3; echo $s >> log; exit 9\" $s; done;"
    "trap 'echo USR1 >> log' USR1; trap 'echo WINCH >> log' WINCH;"
    "echo $$ >> pids; while :; do sleep 0.02; done";

class C35 : public CommandTest {
 protected:
  bool started(std::size_t count = 1) const {
    return eventually([&] { return pids().size() >= count; });
  }
  bool all_gone(std::chrono::nanoseconds patience = 5s) const {
    return eventually(
        [&] {
          for (const pid_t pid : pids()) {
            if (kill(pid, 0) == 0) {
              return false;
            }
          }
          return true;
        },
        patience);
  }
  static bool waits(const Process& process) {
    return eventually([&] { return process.err().find("waiting for n") != std::string::npos; });
  }
  // The next in line, which writes its name as its first act.
  ProcessOptions next() const { return run_script({"--wait", "20s"}, "echo B >> log"); }
};

TEST_P(C35, WhileWaitingASignalEndsTheWait) {
  Process holder{run_script({}, "echo $$ >> pids; sleep 30")};
  ASSERT_TRUE(started());
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    Process waiter{run_script({"--wait", "forever"}, "echo wrong >> log")};
    ASSERT_TRUE(waits(waiter)) << waiter.err();
    waiter.signal(SIGUSR1);
    waiter.signal(SIGWINCH);
    EXPECT_EQ(waiter.wait(100ms), std::nullopt);
    waiter.signal(signal);
    EXPECT_EQ(waiter.wait(1s), 128 + signal) << waiter.err();
    Process show{command({"show", "n", "--json"})};
    EXPECT_EQ(show.wait(), 0);
    EXPECT_NE(show.out().find("\"waiters\":[]"), std::string::npos) << show.out();
  }
  EXPECT_EQ(content("log"), "");
}

TEST_P(C35, APoliteCommandEndsInItsOwnTime) {
  for (const auto& [signal, name] : std::vector<std::pair<int, std::string>>{
           {SIGTERM, "TERM"}, {SIGINT, "INT"}, {SIGHUP, "HUP"}, {SIGQUIT, "QUIT"}}) {
    std::filesystem::remove(file("pids"));
    std::filesystem::remove(file("log"));
    Process holder{run_script({"--ttl", "10s", "--grace", "3s"}, polite)};
    ASSERT_TRUE(started());
    Process successor{next()};
    ASSERT_TRUE(waits(successor)) << successor.err();
    holder.signal(signal);
    EXPECT_EQ(holder.wait(), 9) << holder.err();
    EXPECT_EQ(successor.wait(2s), 0) << successor.err();
    EXPECT_EQ(content("log"), name + "\nB\n");
  }
}

TEST_P(C35, OtherSignalsReachTheCommandAndEndNothing) {
  Process holder{run_script({}, polite)};
  ASSERT_TRUE(started());
  holder.signal(SIGUSR1);
  ASSERT_TRUE(eventually([&] { return content("log") == "USR1\n"; }));
  holder.signal(SIGWINCH);
  ASSERT_TRUE(eventually([&] { return content("log") == "USR1\nWINCH\n"; }));
  EXPECT_TRUE(holder.running());
}

TEST_P(C35, AStubbornCommandIsKilledAfterTheGrace) {
  Process holder{run_script({"--ttl", "10s", "--grace", "500ms"}, stubborn)};
  ASSERT_TRUE(started(2));
  Process successor{next()};
  ASSERT_TRUE(waits(successor)) << successor.err();
  const auto before = boot_now();
  holder.signal(SIGTERM);
  EXPECT_EQ(holder.wait(), 128 + SIGKILL);
  EXPECT_GE(boot_now() - before, 500ms);
  EXPECT_LT(boot_now() - before, 1500ms);
  EXPECT_TRUE(all_gone(0s));
  EXPECT_EQ(successor.wait(2s), 0) << successor.err();
  EXPECT_TRUE(content("log").ends_with("a\nB\n"));
}

TEST_P(C35, CtrlCComesOnceAndTheTerminalIsTheCommands) {
  Terminal terminal{run_script({},
                               "trap 'echo INT >> log; exit 3' INT; [ -t 0 ] && [ -t 1 ] && "
                               "read line && echo $line >> log; echo $$ >> pids;"
                               "while :; do sleep 0.02; done")};
  terminal.type("hello\n");
  ASSERT_TRUE(started());
  terminal.type("\x03");
  EXPECT_EQ(terminal.wait(5s), 3) << terminal.shown();
  EXPECT_EQ(content("log"), "hello\nINT\n");
  EXPECT_TRUE(is_free());
}

// The kernel tells a hang-up to the session's leader alone: here that is the wrapper.
TEST_P(C35, AHangUpOfTheTerminalReachesTheCommand) {
  Terminal terminal{run_script({},
                               "trap 'echo HUP >> log; exit 3' HUP; echo $$ >> pids;"
                               "while :; do sleep 0.02; done")};
  ASSERT_TRUE(started());
  terminal.hang_up();
  EXPECT_EQ(terminal.wait(5s), 3) << terminal.shown();
  EXPECT_EQ(content("log"), "HUP\n");
  EXPECT_TRUE(is_free());
}

TEST_P(C35, AKilledWrapperLeavesNothingRunning) {
  Process holder{run_script({"--ttl", "2s"}, stubborn)};
  ASSERT_TRUE(started(2));
  Process successor{next()};
  ASSERT_TRUE(waits(successor)) << successor.err();
  holder.signal(SIGKILL);
  EXPECT_EQ(holder.wait(), 128 + SIGKILL);
  EXPECT_TRUE(all_gone(500ms));
  EXPECT_EQ(successor.wait(5s), 0) << successor.err();
  EXPECT_TRUE(content("log").ends_with("a\nB\n"));
}

TEST_P(C35, AsProcessOneItReapsAndStops) {
  const std::vector<std::string> unshare{"unshare", "--pid", "--fork", "--mount-proc"};
  ProcessOptions probe = command({});
  probe.args = unshare;
  probe.args.push_back("true");
  if (Process{probe}.wait() != 0) {
    GTEST_SKIP() << "no right to make a pid namespace";
  }
  ProcessOptions options =
      run_script({"--ttl", "10s", "--grace", "3s"},
                 "trap 'exit 5' TERM; for i in $(seq 50); do (sleep 0.1 &); done; sleep 1;"
                 "grep -l '^State:.Z' /proc/[0-9]*/status | wc -l >> log; kill -TERM 1;"
                 "while :; do sleep 0.02; done");
  options.args.insert(options.args.begin(), unshare.begin(), unshare.end());
  Process child{options};
  EXPECT_EQ(child.wait(), 5) << child.err();
  EXPECT_EQ(content("log"), "0\n");
  EXPECT_TRUE(is_free());
}

TEST_P(C35, AShortStopOfTheJobHurtsNobody) {
  ProcessOptions options = run_script(
      {"--ttl", "5s"}, "echo $$ >> pids; while [ ! -e end ]; do sleep 0.02; done; exit 6");
  options.own_group = true;
  Process holder{options};
  ASSERT_TRUE(started());
  kill(-holder.pid(), SIGTSTP);
  EXPECT_EQ(holder.wait(500ms), std::nullopt);
  std::ofstream{file("end")} << "now";
  EXPECT_EQ(holder.wait(500ms), std::nullopt) << "it was not stopped";
  kill(-holder.pid(), SIGCONT);
  EXPECT_EQ(holder.wait(), 6) << holder.err();
}

TEST_P(C35, ALongStopOfTheJobIsALoss) {
  ProcessOptions options = run_script({"--ttl", "2s", "--grace", "500ms"}, stubborn);
  options.own_group = true;
  Process holder{options};
  ASSERT_TRUE(started(2));
  const auto before = boot_now();
  kill(-holder.pid(), SIGTSTP);
  EXPECT_TRUE(all_gone(2s));
  EXPECT_LT(boot_now() - before, 2s);
  EXPECT_EQ(holder.wait(0s), std::nullopt) << "it was not stopped";
  kill(-holder.pid(), SIGCONT);
  EXPECT_EQ(holder.wait(), 76) << holder.err();
}

TEST_P(C35, ARequestToStopAtAnyMomentEndsCleanly) {
  // Before the question, between question and grant, between grant and start, and after it.
  for (int i = 0; i < 40; ++i) {
    Process child{run_script({}, "while :; do sleep 0.02; done")};
    const auto until = boot_now() + i * 250us;
    while (boot_now() < until) {
    }
    child.signal(SIGTERM);
    const auto code = child.wait(5s);
    EXPECT_EQ(code, 128 + SIGTERM) << i << child.err();
  }
  EXPECT_TRUE(is_free());
}

TEST_P(C35, TheLockStaysUntilTheLastProcessIsGone) {
  Process holder{run_script({},
                            "(setsid sh -c 'echo $$ >> pids; sleep 1.6' &); "
                            "while [ ! -s pids ]; do sleep 0.01; done; exit 4")};
  ASSERT_TRUE(started());
  Process busy{run({"-q"}, {"true"})};
  EXPECT_EQ(busy.wait(), 75);
  EXPECT_EQ(holder.wait(), 4);
  EXPECT_TRUE(all_gone(0s));
  EXPECT_NE(holder.err().find("pid " + std::to_string(pids().at(0))), std::string::npos)
      << holder.err();
  EXPECT_TRUE(is_free());
}

INSTANTIATE_TEST_SUITE_P(Stores, C35, command_stores, store_name);

}  // namespace

}  // namespace holdfast::test

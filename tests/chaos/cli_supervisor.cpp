// The supervisor by itself: no store, no lease, only a deadline. Parts of C05, C35 and C36.
#include "cli/supervisor.hpp"

#include "cli/process_tree.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

using namespace std::literals;

constexpr Duration slack = 250ms;

// Waits for events in other processes, which cannot be awaited otherwise.
template <class Predicate>
bool eventually(Predicate predicate, Duration limit = 5s) {
  const Instant end = BootClock::now() + limit;
  while (!predicate()) {
    if (BootClock::now() > end) {
      return false;
    }
    poll(nullptr, 0, 2);
  }
  return true;
}

ChildDeadline within(Duration term, Duration kill) {
  const Instant now = BootClock::now();
  return {now + term, now + kill};
}

// Everything until the supervisor is gone.
std::vector<Report> reports_of(Supervisor& supervisor, Duration limit = 10s) {
  std::vector<Report> reports;
  const Instant end = BootClock::now() + limit;
  while (!supervisor.ended() && BootClock::now() < end) {
    pollfd wait{supervisor.descriptor(), POLLIN, 0};
    poll(&wait, 1, 100);
    while (const auto report = supervisor.receive()) {
      reports.push_back(*report);
    }
  }
  EXPECT_TRUE(supervisor.ended());
  if (!supervisor.ended()) {
    kill(supervisor.pid(), SIGKILL);
  }
  waitpid(supervisor.pid(), nullptr, 0);
  return reports;
}

std::vector<Report::Type> types_of(const std::vector<Report>& reports) {
  std::vector<Report::Type> types;
  for (const Report& report : reports) {
    types.push_back(report.type);
  }
  return types;
}

using enum Report::Type;
using Types = std::vector<Report::Type>;

// Ignores TERM, and so do a child in a session of its own and one that has lost its parent.
constexpr const char* stubborn_tree =
    "trap '' TERM; echo $$ >> pids;"
    "setsid sh -c 'echo $$ >> pids; while :; do sleep 0.1; done' &"
    "(setsid sh -c 'echo $$ >> pids; while :; do sleep 0.1; done' &);"
    "while :; do sleep 0.1; done";

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SupervisorTest() override {
    for (const pid_t pid : recorded()) {
      kill(pid, SIGKILL);  // only what a failed test has left
    }
    std::filesystem::remove_all(folder_);
  }

  // A script that can write pids to `pids` and lines to `log`.
  SupervisorPlan plan(const std::string& script, Duration grace = 300ms) const {
    SupervisorPlan result;
    result.command = {"/bin/sh", "-c", "cd " + folder_.string() + "; " + script};
    result.grace = grace;
    sigemptyset(&result.started_mask);
    return result;
  }

  std::vector<pid_t> recorded() const {
    std::ifstream stream{folder_ / "pids"};
    std::vector<pid_t> pids;
    for (pid_t pid = 0; stream >> pid;) {
      pids.push_back(pid);
    }
    return pids;
  }

  bool all_recorded(std::size_t count) const {
    return eventually([&] { return recorded().size() >= count; });
  }

  bool none_alive() const {
    for (const pid_t pid : recorded()) {
      if (kill(pid, 0) == 0 || errno != ESRCH) {
        return false;
      }
    }
    return true;
  }

  std::string log() const {
    std::ifstream stream{folder_ / "log"};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }

  // A wrapper that can be stopped or killed, in a process group of its own.
  static pid_t launch_wrapper(const SupervisorPlan& the_plan, ChildDeadline deadline) {
    const pid_t wrapper = fork();
    if (wrapper == 0) {
      setpgid(0, 0);
      Supervisor supervisor = Supervisor::launch(the_plan);
      supervisor.start(deadline, {});
      for (;;) {
        pause();
      }
    }
    setpgid(wrapper, wrapper);
    return wrapper;
  }

 private:
  std::filesystem::path folder_{};
};

TEST_F(SupervisorTest, ReportsTheStatusOfTheCommand) {
  Supervisor supervisor = Supervisor::launch(plan("exit 7"));
  supervisor.start(within(5s, 6s), {});
  const auto reports = reports_of(supervisor);
  ASSERT_EQ(types_of(reports), (Types{started, exited, gone}));
  EXPECT_TRUE(WIFEXITED(reports[1].value));
  EXPECT_EQ(WEXITSTATUS(reports[1].value), 7);
}

TEST_F(SupervisorTest, ReportsWhyTheCommandCannotBeStarted) {
  const std::array<std::pair<const char*, int>, 3> cases{
      {{"/nonexistent/command", ENOENT}, {"/", EACCES}, {"/etc/passwd", EACCES}}};
  for (const auto& [command, error] : cases) {
    SupervisorPlan the_plan = plan("");
    the_plan.command = {command};
    Supervisor supervisor = Supervisor::launch(the_plan);
    supervisor.start(within(5s, 6s), {});
    const auto reports = reports_of(supervisor);
    ASSERT_EQ(types_of(reports), Types{refused}) << command;
    EXPECT_EQ(reports[0].value, error) << command;
  }
}

TEST_F(SupervisorTest, NeverStartsWithoutTheWord) {
  pid_t pid = 0;
  {
    const Supervisor supervisor = Supervisor::launch(plan("echo $$ >> pids"));
    pid = supervisor.pid();
  }
  waitpid(pid, nullptr, 0);
  EXPECT_TRUE(recorded().empty());
}

TEST_F(SupervisorTest, DoesNotStartAfterTheDeadline) {
  Supervisor supervisor = Supervisor::launch(plan("echo $$ >> pids"));
  supervisor.start(within(-1ms, 1s), {});
  EXPECT_EQ(types_of(reports_of(supervisor)), Types{late});
  EXPECT_TRUE(recorded().empty());
}

TEST_F(SupervisorTest, EndsAStubbornTreeAtTheDeadline) {
  Supervisor supervisor = Supervisor::launch(plan(stubborn_tree));
  const ChildDeadline deadline = within(500ms, 800ms);
  supervisor.start(deadline, {});
  ASSERT_TRUE(all_recorded(3));
  const auto reports = reports_of(supervisor);
  EXPECT_LT(BootClock::now(), deadline.kill_at + slack);
  EXPECT_GE(BootClock::now(), deadline.kill_at);
  ASSERT_EQ(types_of(reports), (Types{started, lost, exited, gone}));
  EXPECT_EQ(WTERMSIG(reports[2].value), SIGKILL);
  EXPECT_TRUE(none_alive());
}

TEST_F(SupervisorTest, RenewalsKeepTheCommandAlive) {
  Supervisor supervisor = Supervisor::launch(plan("sleep 1; exit 3"));
  supervisor.start(within(400ms, 500ms), {});
  for (int i = 0; i < 10; ++i) {
    poll(nullptr, 0, 100);
    supervisor.extend(within(400ms, 500ms));
  }
  const auto reports = reports_of(supervisor);
  ASSERT_EQ(types_of(reports), (Types{started, exited, gone}));
  EXPECT_EQ(WEXITSTATUS(reports[1].value), 3);
}

TEST_F(SupervisorTest, NothingEscapesByForking) {
  // Each generation starts the next and ends, so that a listing is always out of date.
  Supervisor supervisor = Supervisor::launch(
      plan("trap '' TERM; echo 'echo >> log; sh comet & exit' > comet; exec sh comet"));
  const ChildDeadline deadline = within(200ms, 400ms);
  supervisor.start(deadline, {});
  const auto reports = reports_of(supervisor);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().type, gone);
  EXPECT_LT(BootClock::now(), deadline.kill_at + slack);
  const auto generations = log().size();
  EXPECT_GT(generations, 10U);
  poll(nullptr, 0, 50);
  EXPECT_EQ(log().size(), generations);
}

TEST_F(SupervisorTest, WaitsForWhatTheCommandLeavesBehind) {
  const Instant before = BootClock::now();
  Supervisor supervisor = Supervisor::launch(plan("(setsid sleep 0.5 &) ; exit 0"));
  supervisor.start(within(5s, 6s), {});
  EXPECT_EQ(types_of(reports_of(supervisor)), (Types{started, exited, gone}));
  EXPECT_GE(BootClock::now() - before, 500ms);
}

TEST_F(SupervisorTest, PassesASignalOnOnce) {
  Supervisor supervisor = Supervisor::launch(
      plan("trap 'echo usr1 >> log' USR1; trap 'echo term >> log; exit 5' TERM; echo $$ >> pids;"
           "while :; do sleep 0.02; done"));
  supervisor.start(within(5s, 6s), {});
  ASSERT_TRUE(all_recorded(1));
  supervisor.forward(SIGUSR1);
  ASSERT_TRUE(eventually([&] { return log() == "usr1\n"; }));
  supervisor.forward(SIGTERM);
  const auto reports = reports_of(supervisor);
  ASSERT_EQ(types_of(reports), (Types{started, exited, gone}));
  EXPECT_EQ(WEXITSTATUS(reports[1].value), 5);
  EXPECT_EQ(log(), "usr1\nterm\n");
}

TEST_F(SupervisorTest, KillsAfterTheGraceOfAnIgnoredSignal) {
  Supervisor supervisor = Supervisor::launch(plan(stubborn_tree, 200ms));
  supervisor.start(within(8s, 9s), {});
  ASSERT_TRUE(all_recorded(3));
  const Instant before = BootClock::now();
  supervisor.forward(SIGTERM);
  const auto reports = reports_of(supervisor);
  EXPECT_GE(BootClock::now() - before, 200ms);
  EXPECT_LT(BootClock::now() - before, 200ms + slack);
  ASSERT_EQ(types_of(reports), (Types{started, exited, gone}));
  EXPECT_TRUE(none_alive());
}

TEST_F(SupervisorTest, ALossReachesAStoppedSupervisorToo) {
  Supervisor supervisor = Supervisor::launch(plan(stubborn_tree, 200ms));
  supervisor.start(within(8s, 9s), {});
  ASSERT_TRUE(all_recorded(3));
  kill(supervisor.pid(), SIGSTOP);
  supervisor.lose();
  EXPECT_EQ(types_of(reports_of(supervisor)), (Types{started, lost, exited, gone}));
  EXPECT_TRUE(none_alive());
}

TEST_F(SupervisorTest, AStoppedCommandIsWokenToStop) {
  Supervisor supervisor = Supervisor::launch(
      plan("trap 'exit 4' TERM; echo $$ >> pids; kill -STOP $$; while :; do sleep 0.02; done"));
  const ChildDeadline deadline = within(300ms, 5s);
  supervisor.start(deadline, {});
  const auto reports = reports_of(supervisor);
  ASSERT_EQ(types_of(reports), (Types{started, lost, exited, gone}));
  EXPECT_EQ(WEXITSTATUS(reports[2].value), 4);
  EXPECT_LT(BootClock::now(), deadline.term_at + slack);
}

TEST_F(SupervisorTest, AKilledWrapperTakesTheTreeWithIt) {
  const pid_t wrapper = launch_wrapper(plan(stubborn_tree), within(30s, 31s));
  ASSERT_TRUE(all_recorded(3));
  kill(wrapper, SIGKILL);
  EXPECT_TRUE(eventually([&] { return none_alive(); }, slack));
  waitpid(wrapper, nullptr, 0);
}

TEST_F(SupervisorTest, AJobKilledAsAGroupIsGoneWhole) {
  const pid_t wrapper = launch_wrapper(plan(stubborn_tree), within(30s, 31s));
  ASSERT_TRUE(all_recorded(3));
  kill(-wrapper, SIGKILL);
  EXPECT_TRUE(eventually([&] { return none_alive(); }, slack));
  waitpid(wrapper, nullptr, 0);
}

TEST_F(SupervisorTest, AStoppedJobIsEndedAtTheDeadline) {
  const pid_t wrapper = launch_wrapper(plan(stubborn_tree), within(600ms, 900ms));
  ASSERT_TRUE(all_recorded(3));
  kill(-wrapper, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return none_alive(); }, 900ms + slack));
  kill(-wrapper, SIGKILL);
  waitpid(wrapper, nullptr, 0);
}

TEST_F(SupervisorTest, AKilledSupervisorTakesTheCommandWithIt) {
  Supervisor supervisor = Supervisor::launch(plan(stubborn_tree));
  supervisor.start(within(30s, 31s), {});
  ASSERT_TRUE(all_recorded(3));
  const std::vector<pid_t> pids = recorded();
  kill(supervisor.pid(), SIGKILL);
  reports_of(supervisor);
  // The command dies by itself; the others are the wrapper's now, as it is a subreaper.
  EXPECT_TRUE(eventually([&] {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return kill(pids[0], 0) != 0;
  }));
  EXPECT_GE(descendants_of(getpid()).size(), 2U);
  kill_tree(getpid(), 0);
  while (waitpid(-1, nullptr, 0) > 0) {
  }
  EXPECT_TRUE(none_alive());
}

}  // namespace

}  // namespace holdfast::cli

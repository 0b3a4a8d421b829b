// C36: exit codes, argument passing, stdio.
#include "test_paths.hpp"
#include "tests/chaos/command_test.hpp"

#include <csignal>
#include <sstream>

#include <sys/stat.h>

namespace holdfast::test {

namespace {

class C36 : public CommandTest {
 protected:
  // What the command sees of itself, once directly and once under `holdfast run`.
  std::pair<std::string, std::string> both(const std::string& prefix, const std::string& script) {
    const std::string direct = "exec " + prefix + " /bin/sh -c '" + script + "'";
    const std::string wrapped =
        "exec " + prefix + " " + HOLDFAST_COMMAND + " run -q n -- /bin/sh -c '" + script + "'";
    return {output_of(direct), output_of(wrapped)};
  }

  std::string output_of(const std::string& script) {
    ProcessOptions options = command({});
    options.args = {"/bin/sh", "-c", script};
    Process child{options};
    EXPECT_EQ(child.wait(), 0) << child.err();
    return child.out();
  }
};

TEST_P(C36, TheCommandsCodeIsOurs) {
  for (const int code : {0, 1, 7, 126, 127, 255}) {
    Process child{run_script({}, "exit " + std::to_string(code))};
    EXPECT_EQ(child.wait(), code);
    EXPECT_EQ(child.err(), "");
  }
}

TEST_P(C36, ASignalIs128More) {
  for (const int signal : {SIGTERM, SIGKILL, SIGSEGV}) {
    Process child{run_script({}, "kill -" + std::to_string(signal) + " $$")};
    EXPECT_EQ(child.wait(), 128 + signal);
  }
}

TEST_P(C36, WhatCannotBeStartedGivesTheLockBackAtOnce) {
  std::ofstream{file("plain")} << "echo no";
  const std::vector<std::pair<std::string, int>> cases{
      {file("absent"), 127}, {"holdfast-no-such-command", 127}, {file("plain"), 126}, {"/", 126}};
  for (const auto& [name, code] : cases) {
    Process child{run({"--ttl", "60s"}, {name})};
    EXPECT_EQ(child.wait(), code) << name;
    EXPECT_NE(child.err(), "") << name;
    EXPECT_TRUE(is_free()) << name;
  }
}

TEST_P(C36, BusyIsAnAnswer) {
  Process holder{run_script({"--note", "nightly"}, "echo > started; sleep 10")};
  ASSERT_TRUE(eventually([&] { return exists("started"); })) << holder.err();
  Process busy{run_script({}, "echo > wrong")};
  EXPECT_EQ(busy.wait(), 75);
  EXPECT_NE(busy.err().find("pid " + std::to_string(holder.pid())), std::string::npos)
      << busy.err();
  EXPECT_NE(busy.err().find("nightly"), std::string::npos) << busy.err();
  Process quiet{run_script({"-q", "--busy-exit", "0"}, "echo > wrong")};
  EXPECT_EQ(quiet.wait(), 0);
  EXPECT_EQ(quiet.err(), "");
  Process waited{run_script({"--wait", "300ms", "--busy-exit", "3"}, "echo > wrong")};
  EXPECT_EQ(waited.wait(), 3);
  EXPECT_NE(waited.err().find("waiting for n"), std::string::npos) << waited.err();
  EXPECT_FALSE(exists("wrong"));
}

TEST_P(C36, WrongUsageIs64) {
  const std::vector<std::vector<std::string>> cases{
      {"run"},
      {"run", "n"},
      {"run", "n", "--"},
      {"run", "n", "true"},
      {"run", "--", "true"},
      {"run", "", "--", "true"},
      {"run", "a{}", "--", "true"},
      {"run", "--busy-exit", "600", "n", "--", "true"},
      {"run", "--busy-exit", "-1", "n", "--", "true"},
      {"run", "--busy-exit", "x", "n", "--", "true"},
      {"run", "--ttl", "0", "n", "--", "true"},
      {"run", "--ttl", "-5s", "n", "--", "true"},
      {"run", "--ttl", "5", "n", "--", "true"},
      {"run", "--ttl", "99ms", "n", "--", "true"},
      {"run", "--ttl", "20000d", "n", "--", "true"},
      {"run", "--wait", "soon", "n", "--", "true"},
      {"run", "--grace", "25s", "n", "--", "true"},
      {"run", "--note", "a\nb", "n", "--", "true"},
      {"run", "--store", "nosuch://h", "n", "--", "true"},
      {"run", "--store", "redis://h:port", "n", "--", "true"},
      {"run", "--store", "redis://" + std::string(5000, 'h'), "n", "--", "true"},
      {"run", "--shared", "--limit", "2", "n", "--", "true"},
      {"run", "--shared", "--once", "x", "n", "--", "true"},
      {"run", "--limit", "0", "n", "--", "true"},
      {"run", "--permits", "3", "--limit", "2", "n", "--", "true"},
      {"run", "--permits", "2", "n", "--", "true"},
      {"run", "--once", "x", "--remember", "0", "n", "--", "true"},
      {"elect", "n"},
      {"elect", "n", "--", "true"},
      {"elect", "n", "--value", std::string(1025, 'v'), "--", "true"},
      {"elect", "n", "--observe", "--", "true"},
      {"nonsense"},
  };
  for (const auto& arguments : cases) {
    Process child{command(arguments)};
    const auto code = child.wait();
    EXPECT_EQ(code, 64) << ::testing::PrintToString(arguments) << child.err();
    const std::string err = child.err();
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  }
}

TEST_P(C36, AVariableStandsForEachOption) {
  ProcessOptions options = run_script({}, "echo $HOLDFAST_TTL");
  options.env.emplace_back("HOLDFAST_TTL", "1500ms");
  Process child{options};
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(child.out(), "1500ms\n");
  options.env.emplace_back("HOLDFAST_BUSY_EXIT", "600");
  Process wrong{options};
  EXPECT_EQ(wrong.wait(), 64);
}

TEST_P(C36, StreamsAreUntouched) {
  std::string bytes(1 << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>((i * 2654435761U) >> 13U);
  }
  ProcessOptions options = run({"-v"}, {"cat"});
  options.input = bytes;
  Process child{options};
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(child.out() == bytes);
  EXPECT_EQ(output_of("echo hi | " HOLDFAST_COMMAND " run n -- cat"), "hi\n");
  EXPECT_EQ(output_of(HOLDFAST_COMMAND " run n -- yes | head -n 1"), "y\n");
  EXPECT_EQ(output_of("yes | " HOLDFAST_COMMAND " run n -- head -n 1"), "y\n");
}

TEST_P(C36, AReaderSeesTheEndWhenTheCommandClosesItsOutput) {
  // Neither the wrapper nor the supervisor may keep the pipe open.
  EXPECT_EQ(output_of(HOLDFAST_COMMAND " run n -- sh -c 'echo a; exec >&-; "
                                       "while [ ! -e seen ]; do sleep 0.02; done' | "
                                       "(cat; echo > seen)"),
            "a\n");
  EXPECT_EQ(output_of(HOLDFAST_COMMAND " run n -- sh -c 'echo b >&5; exec 5>&-; "
                                       "while [ ! -e end ]; do sleep 0.02; done' 5>&1 >&2 | "
                                       "(cat; echo > end)"),
            "b\n");
}

TEST_P(C36, AReaderThatDoesNotReadCostsMessagesNotTheLock) {
  // Standard error is a full pipe that nobody empties; there is something to say all the time.
  ProcessOptions options = command({});
  options.args = {"/bin/sh", "-c",
                  "{ head -c 65536 /dev/zero >&2; " HOLDFAST_COMMAND
                  " run -v --ttl 1s n -- sleep 2; echo $? > code; } 2>&1 >/dev/null | "
                  "{ while [ ! -s code ]; do sleep 0.02; done; cat > /dev/null; }"};
  Process child{options};
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(content("code"), "0\n");
}

TEST_P(C36, ArgumentsAreExact) {
  const std::vector<std::string> arguments{
      "a b", "", "-c", "--", "--ttl", "x\ny", "$HOME", "*", "\xff\xfe", std::string(100'000, 'z')};
  std::vector<std::string> job{"/usr/bin/printf", "%s\\0"};
  job.insert(job.end(), arguments.begin(), arguments.end());
  Process child{run({}, job)};
  EXPECT_EQ(child.wait(), 0);
  std::string expected;
  for (const std::string& argument : arguments) {
    expected.append(argument).push_back('\0');
  }
  EXPECT_TRUE(child.out() == expected);
}

TEST_P(C36, SignalsDescriptorsAndUmaskAreInherited) {
  const std::string look =
      "grep -E \"^Sig(Blk|Ign|Cgt)\" /proc/self/status; umask; "
      "for f in /proc/self/fd/*; do echo ${f##*/}; done";
  const std::vector<std::string> prefixes{
      "",
      "env --ignore-signal=HUP --ignore-signal=PIPE --ignore-signal=CHLD",
      "env --block-signal=USR1 --block-signal=TERM",
      "nohup",
  };
  for (const std::string& prefix : prefixes) {
    const auto [direct, wrapped] = both(prefix, look);
    EXPECT_EQ(direct, wrapped) << prefix;
    EXPECT_NE(direct, "") << prefix;
  }
  const auto [direct, wrapped] = std::pair{
      output_of("umask 027; exec 7</dev/null; exec sh -c '" + look + "'"),
      output_of("umask 027; exec 7</dev/null; exec " HOLDFAST_COMMAND " run -q n -- sh -c '" +
                look + "'")};
  EXPECT_EQ(direct, wrapped);
  EXPECT_NE(wrapped.find("\n7\n"), std::string::npos) << wrapped;
}

TEST_P(C36, ClosedStandardStreamsStayClosed) {
  // ls opens the folder itself: with 0 closed, that becomes its descriptor 0.
  for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&- 2>&-"}) {
    output_of("exec 9>fds; exec sh -c 'ls /proc/self/fd >&9' " + std::string{closed});
    const std::string direct = content("fds");
    output_of("exec 9>fds; exec " HOLDFAST_COMMAND " run n -- sh -c 'ls /proc/self/fd >&9' " +
              std::string{closed});
    EXPECT_EQ(content("fds"), direct) << closed;
    EXPECT_NE(direct, "") << closed;
  }
}

TEST_P(C36, TheCommandKnowsItsGrant) {
  Process child{run_script({"--ttl", "10s"},
                           "echo $HOLDFAST_NAME $HOLDFAST_TTL $HOLDFAST_STORE; "
                           "[ $HOLDFAST_FENCE -gt 0 ] && [ $HOLDFAST_FENCE = $HOLDFAST_FLOOR ] && "
                           "[ ${#HOLDFAST_OWNER} = 32 ]")};
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(child.out(), "n 10s " + url() + "\n");
}

TEST_P(C36, FencesRise) {
  std::int64_t last = 0;
  const auto next = [&] {
    Process child{run_script({}, "echo $HOLDFAST_FENCE")};
    EXPECT_EQ(child.wait(), 0) << child.err();
    return child.out().empty() ? 0 : std::stoll(child.out());
  };
  const auto expect_rise = [&](const char* after) {
    const std::int64_t fence = next();
    EXPECT_GT(fence, last) << after;
    last = fence;
  };
  expect_rise("the start");
  expect_rise("a release");
  Process breaker{command({"break", "n", "--now"})};
  EXPECT_EQ(breaker.wait(), 0) << breaker.err();
  expect_rise("break");
  if (GetParam() == "redis"sv) {
    redis().command({"FLUSHALL"});
    expect_rise("FLUSHALL");
    redis().restart();
    expect_rise("a restart");
  }
}

TEST_P(C36, MessagesAsJson) {
  Process child{run_script({"--json"}, "exit 0")};
  EXPECT_EQ(child.wait(), 0);
  std::istringstream lines{child.err()};
  std::string line;
  int count = 0;
  for (; std::getline(lines, line); ++count) {
    EXPECT_TRUE(line.starts_with("{\"event\":\"") && line.ends_with("}")) << line;
  }
  EXPECT_GT(count, 0);
  EXPECT_NE(child.err().find("\"event\":\"granted\""), std::string::npos);
  EXPECT_TRUE(child.err().ends_with("\"exit\":0}\n")) << child.err();
}

INSTANTIATE_TEST_SUITE_P(Stores, C36, command_stores, store_name);

}  // namespace

}  // namespace holdfast::test

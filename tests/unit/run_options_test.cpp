#include "cli/run_options.hpp"

#include "base/duration_text.hpp"
#include "cli/command_line.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

namespace holdfast::cli {

namespace {

using namespace std::literals;

RunOptions parsed(std::vector<std::string> arguments) {
  return std::get<RunOptions>(parse_run(arguments));
}

std::string refusal(std::vector<std::string> arguments) {
  try {
    parse_run(arguments);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(RunOptions, HaveSafeDefaults) {
  const RunOptions options = parsed({"n", "--", "true"});
  EXPECT_EQ(options.name, "n");
  EXPECT_EQ(options.command, (std::vector<std::string>{"true"}));
  EXPECT_EQ(options.store, "");
  EXPECT_EQ(options.lease.ttl, 30s);
  EXPECT_TRUE(options.lease.renew);
  EXPECT_EQ(options.wait, Duration{0});
  EXPECT_EQ(options.grace, 5s);
  EXPECT_EQ(options.busy_exit, 75);
}

TEST(RunOptions, GraceFollowsTheTtl) {
  EXPECT_EQ(parsed({"--ttl", "3s", "n", "--", "true"}).grace, 1s);
  EXPECT_EQ(parsed({"--ttl", "60s", "n", "--", "true"}).grace, 5s);
  EXPECT_EQ(parsed({"--ttl", "60s", "--grace", "20s", "n", "--", "true"}).grace, 20s);
  EXPECT_EQ(parsed({"--grace", "0", "n", "--", "true"}).grace, 0s);
  // TTL 10 s: margin 1.01 s; two thirds are 6.67 s.
  EXPECT_EQ(parsed({"--ttl", "10s", "--grace", "5.65s", "n", "--", "true"}).grace, 5650ms);
  EXPECT_NE(refusal({"--ttl", "10s", "--grace", "5.66s", "n", "--", "true"}), "");
  EXPECT_NE(refusal({"--ttl", "10s", "--grace", "7000d", "n", "--", "true"}), "");
}

TEST(RunOptions, TakesEverything) {
  const RunOptions options =
      parsed({"--store", "redis://h", "--ttl=1.5s", "--wait", "forever", "--no-renew",
              "--busy-exit=0", "--note", "a note", "--json", "-q", "-v", "n", "--", "true"});
  EXPECT_EQ(options.store, "redis://h");
  EXPECT_EQ(options.lease.ttl, 1500ms);
  EXPECT_EQ(options.wait, std::nullopt);
  EXPECT_FALSE(options.lease.renew);
  EXPECT_EQ(options.busy_exit, 0);
  EXPECT_EQ(options.lease.note, "a note");
  EXPECT_TRUE(options.messages.json && options.messages.quiet && options.messages.verbose);
}

TEST(RunOptions, HowLongItIsHeld) {
  const RunOptions options =
      parsed({"--min-hold", "10s", "--max-hold", "1m", "--lock-delay", "2s", "n", "--", "true"});
  EXPECT_EQ(options.lease.min_hold, Duration{10s});
  EXPECT_EQ(options.lease.max_hold, Duration{1min});
  EXPECT_EQ(options.lease.lock_delay, Duration{2s});
  EXPECT_EQ(options.grace, 5s);
  // The margin is 1.01 s of a TTL of 10 s; a third of the rest is the grace.
  EXPECT_EQ(parsed({"--ttl", "10s", "--max-hold", "4.01s", "n", "--", "true"}).grace, 1s);
}

TEST(RunOptions, OncePerRunId) {
  EXPECT_FALSE(parsed({"n", "--", "true"}).once);
  const RunOptions options = parsed({"--once", "2026-11-30", "n", "--", "true"});
  EXPECT_EQ(options.once, "2026-11-30");
  EXPECT_EQ(options.remember, 7 * 24h);
  EXPECT_EQ(parsed({"--once", "r", "--remember", "2h", "n", "--", "true"}).remember, 2h);
}

TEST(RunOptions, OneOfManyReadersOrHolders) {
  EXPECT_TRUE(parsed({"--shared", "n", "--", "true"}).shared);
  const RunOptions options = parsed({"--limit", "4", "--permits", "3", "n", "--", "true"});
  EXPECT_EQ(options.limit, 4U);
  EXPECT_EQ(options.permits, 3U);
  EXPECT_EQ(parsed({"--limit", "4", "n", "--", "true"}).permits, 1U);
}

TEST(RunOptions, Elect) {
  const auto elect = [](std::vector<std::string> arguments) {
    return std::get<RunOptions>(parse_elect(arguments));
  };
  const RunOptions options = elect({"n", "--value", "10.0.0.7:80", "--", "true"});
  EXPECT_EQ(options.value, "10.0.0.7:80");
  EXPECT_FALSE(options.wait) << "a candidate waits";
  EXPECT_EQ(options.command, (std::vector<std::string>{"true"}));
  EXPECT_TRUE(elect({"n", "--observe"}).observe);
}

TEST(RunOptions, OptionsMayFollowTheName) {
  EXPECT_EQ(parsed({"n", "--wait", "10s", "--", "true"}).wait, 10s);
}

TEST(RunOptions, WhatFollowsTheDashesIsTheCommandByteForByte) {
  const std::vector<std::string> command{"-c", "", "--ttl", "--", "a b", "\n", "\xff", "--json"};
  std::vector<std::string> arguments{"n", "--"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  EXPECT_EQ(parsed(arguments).command, command);
  EXPECT_FALSE(parsed(arguments).messages.json);
}

TEST(RunOptions, HelpIsAnAnswer) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(std::get<int>(parse_run(std::vector<std::string>{"--help"})), 0);
  const std::string help = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(help.find("this user on this host only"), std::string::npos);
  EXPECT_NE(help.find("Usage: holdfast run [OPTIONS] NAME -- COMMAND [ARG...]"), std::string::npos);
}

TEST(RunOptions, RefusesInOneLine) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {},
           {"n"},
           {"n", "--"},
           {"n", "true"},
           {"n", "m", "--", "true"},
           {"--", "true"},
           {"--ttl", "--", "true"},
           {"--ttl", "1", "n", "--", "true"},
           {"--ttl", "-1s", "n", "--", "true"},
           {"--ttl", "1s", "--ttl", "2s", "n", "--", "true"},
           {"--wait", "never", "n", "--", "true"},
           {"--busy-exit", "256", "n", "--", "true"},
           {"--busy-exit", "-1", "n", "--", "true"},
           {"--busy-exit", "0x1", "n", "--", "true"},
           {"--busy-exit", "", "n", "--", "true"},
           {"--note", std::string(201, 'x'), "n", "--", "true"},
           {"--shared", "--once", "r", "n", "--", "true"},
           {"--max-hold", "1s", "n", "--", "true"},
           {"--max-hold", "8s", "--grace", "6s", "n", "--", "true"},
           {"--min-hold", "0", "n", "--", "true"},
           {"--min-hold", "2m", "--max-hold", "1m", "n", "--", "true"},
           {"--lock-delay", "soon", "n", "--", "true"},
           {"--once", "", "n", "--", "true"},
           {"--once", std::string(256, 'r'), "n", "--", "true"},
           {"--once", "a\nb", "n", "--", "true"},
           {"--once", "r", "--remember", "0", "n", "--", "true"},
           {std::string(256, 'n'), "--", "true"},
           {"a\tb", "--", "true"},
       }) {
    const std::string why = refusal(arguments);
    EXPECT_NE(why, "") << ::testing::PrintToString(arguments);
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
  }
}

class RunVariables : public ::testing::Test {
 protected:
  static void set(const char* name, const char* value) { setenv(name, value, 1); }
  ~RunVariables() override {
    for (const char* name : {"HOLDFAST_TTL", "HOLDFAST_WAIT", "HOLDFAST_BUSY_EXIT", "HOLDFAST_JSON",
                             "HOLDFAST_NO_RENEW", "HOLDFAST_QUIET"}) {
      unsetenv(name);
    }
  }
};

TEST_F(RunVariables, StandForOptionsAndYieldToThem) {
  set("HOLDFAST_TTL", "7s");
  set("HOLDFAST_WAIT", "forever");
  set("HOLDFAST_JSON", "1");
  set("HOLDFAST_NO_RENEW", "yes");
  set("HOLDFAST_QUIET", "false");
  const RunOptions options = parsed({"n", "--", "true"});
  EXPECT_EQ(options.lease.ttl, 7s);
  EXPECT_EQ(options.wait, std::nullopt);
  EXPECT_TRUE(options.messages.json);
  EXPECT_FALSE(options.messages.quiet);
  EXPECT_FALSE(options.lease.renew);
  EXPECT_EQ(parsed({"--ttl", "8s", "n", "--", "true"}).lease.ttl, 8s);
}

TEST_F(RunVariables, AreCheckedAsOptionsAre) {
  set("HOLDFAST_BUSY_EXIT", "600");
  EXPECT_NE(refusal({"n", "--", "true"}), "");
  set("HOLDFAST_BUSY_EXIT", "");
  EXPECT_EQ(parsed({"n", "--", "true"}).busy_exit, 75);
}

TEST(ExactDurationText, CanBeReadBack) {
  for (const Duration duration : {Duration{30s}, Duration{1500ms}, Duration{1ns}, Duration{100us},
                                  Duration{24h}, Duration{1001ms}}) {
    EXPECT_EQ(parse_duration(exact_duration_text(duration)), duration);
  }
  EXPECT_EQ(exact_duration_text(30s), "30s");
  EXPECT_EQ(exact_duration_text(1500ms), "1500ms");
}

}  // namespace

}  // namespace holdfast::cli

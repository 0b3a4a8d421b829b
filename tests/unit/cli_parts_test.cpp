// The small parts of the command.
#include "cli/exit_code.hpp"
#include "cli/secrets.hpp"
#include "cli/spawn.hpp"
#include "cli/supervisor_link.hpp"
#include "cli/table.hpp"

#include <holdfast/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace holdfast::cli {

namespace {

TEST(ExitCode, SaysWhatToDoAboutIt) {
  EXPECT_EQ(exit_code_for(errc::busy), 75);
  EXPECT_EQ(exit_code_for(errc::timed_out), 75);
  for (const errc code : {errc::invalid_url, errc::invalid_name, errc::invalid_options}) {
    EXPECT_EQ(exit_code_for(code), 64) << error_word(code);
  }
  for (const errc code :
       {errc::store_unavailable, errc::outcome_unknown, errc::access_denied, errc::format_too_new,
        errc::storage_unsafe, errc::closed, errc::unsupported, errc::cancelled}) {
    EXPECT_EQ(exit_code_for(code), 69) << error_word(code);
  }
  for (const errc code : {errc::expired, errc::taken, errc::broken, errc::max_hold}) {
    EXPECT_EQ(exit_code_for(code), 76) << error_word(code);
  }
  EXPECT_EQ(exit_code_for(std::make_error_code(std::errc::not_enough_memory)), 69);
}

TEST(ExitCode, IsTheCommandsOwn) {
  EXPECT_EQ(exit_code_of_status(0), 0);
  EXPECT_EQ(exit_code_of_status(7 << 8), 7);
  EXPECT_EQ(exit_code_of_status(255 << 8), 255);
  EXPECT_EQ(exit_code_of_status(SIGKILL), 137);
  EXPECT_EQ(exit_code_of_status(SIGSEGV | 0x80), 139);  // with a core dump
  EXPECT_EQ(exit_code_of_exec(ENOENT), 127);
  EXPECT_EQ(exit_code_of_exec(EACCES), 126);
  EXPECT_EQ(exit_code_of_exec(E2BIG), 126);
}

std::string blanked(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  blank_passwords(pointers);
  std::string all;
  for (const std::string& argument : arguments) {
    all.append(all.empty() ? "" : " ").append(argument);
  }
  return all;
}

TEST(Secrets, AreBlankedInPlace) {
  EXPECT_EQ(blanked({"run", "--store", "redis://u:pw@h:1/0", "n"}),
            "run --store redis://u:**@h:1/0 n");
  EXPECT_EQ(blanked({"--store=rediss://:p@ss@h"}), "--store=rediss://:****@h");
  EXPECT_EQ(blanked({"--store=redis://u:a/b@h"}), "--store=redis://u:***@h");
}

TEST(Secrets, NothingElseIsTouched) {
  for (const char* text : {"redis://h:6379/0", "redis://u@h:6379", "redis://h:1?password_file=/a@b",
                           "a:b@c", "redis://[::1]:6379", "sqlite:///a/b", "redis://u:@h"}) {
    EXPECT_EQ(blanked({text}), text);
  }
  EXPECT_EQ(blanked({"--", "redis://u:pw@h"}), "-- redis://u:pw@h");
}

TEST(Environment, AddsReplacesAndHides) {
  setenv("HOLDFAST_TEST_KEPT", "a", 1);
  setenv("HOLDFAST_TEST_REPLACED", "b", 1);
  setenv("HOLDFAST_TEST_HIDDEN", "c", 1);
  const auto result = environment_with({"HOLDFAST_TEST_REPLACED=new=er"}, {"HOLDFAST_TEST_HIDDEN"});
  const auto count = [&](const std::string& prefix) {
    return std::count_if(result.begin(), result.end(),
                         [&](const std::string& variable) { return variable.starts_with(prefix); });
  };
  EXPECT_EQ(count("HOLDFAST_TEST_KEPT=a"), 1);
  EXPECT_EQ(count("HOLDFAST_TEST_REPLACED="), 1);
  EXPECT_EQ(count("HOLDFAST_TEST_REPLACED=new=er"), 1);
  EXPECT_EQ(count("HOLDFAST_TEST_HIDDEN"), 0);
  for (const char* name :
       {"HOLDFAST_TEST_KEPT", "HOLDFAST_TEST_REPLACED", "HOLDFAST_TEST_HIDDEN"}) {
    unsetenv(name);
  }
}

TEST(SupervisorLink, CarriesOrdersAndReportsWhole) {
  auto [wrapper, supervisor] = SupervisorLink::make_pair();
  EXPECT_EQ(supervisor.receive_order(), std::nullopt);
  EXPECT_FALSE(supervisor.closed());
  Order order{Order::Type::start, {Instant{Duration{5}}, Instant{Duration{7}}}, 0, {"A=1", "B="}};
  EXPECT_TRUE(wrapper.send(order));
  EXPECT_TRUE(wrapper.send(Order{Order::Type::forward, {}, SIGTERM, {}}));
  const auto first = supervisor.receive_order();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->type, Order::Type::start);
  EXPECT_EQ(first->deadline.term_at, Instant{Duration{5}});
  EXPECT_EQ(first->deadline.kill_at, Instant{Duration{7}});
  EXPECT_EQ(first->environment, order.environment);
  EXPECT_EQ(supervisor.receive_order()->signal, SIGTERM);
  EXPECT_TRUE(supervisor.send(Report{Report::Type::exited, 256}));
  supervisor.close();
  EXPECT_EQ(wrapper.receive_report()->value, 256);
  EXPECT_FALSE(wrapper.closed());
  EXPECT_EQ(wrapper.receive_report(), std::nullopt);
  EXPECT_TRUE(wrapper.closed());
  EXPECT_FALSE(wrapper.send(order));
}

TEST(SupervisorLink, AnOrderThatCrossesTheLastReportsLosesNoneOfThem) {
  auto [wrapper, supervisor] = SupervisorLink::make_pair();
  EXPECT_TRUE(supervisor.send(Report{Report::Type::exited, 256}));
  EXPECT_TRUE(supervisor.send(Report{Report::Type::gone, 0}));
  EXPECT_TRUE(wrapper.send(Order{Order::Type::extend, {}, 0, {}}));
  supervisor.close();
  const auto exited = wrapper.receive_report();
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->value, 256);
  EXPECT_EQ(wrapper.receive_report()->type, Report::Type::gone);
  EXPECT_EQ(wrapper.receive_report(), std::nullopt);
  EXPECT_TRUE(wrapper.closed());
}

TEST(SupervisorLink, AFullPipeIsAnAnswerNotAWait) {
  auto [wrapper, supervisor] = SupervisorLink::make_pair();
  int sent = 0;
  while (sent < 100'000 && wrapper.send(Order{Order::Type::extend, {}, 0, {}})) {
    ++sent;
  }
  EXPECT_GT(sent, 10);
  EXPECT_LT(sent, 100'000);
}

TEST(Table, AlignsColumnsByCodePoints) {
  EXPECT_EQ(table_text({{"a", "b"}, {"\xc3\xa4\xc3\xa4", "c"}}), "a   b\n\xc3\xa4\xc3\xa4  c\n");
  EXPECT_EQ(table_text({}), "");
}

}  // namespace

}  // namespace holdfast::cli

// 300 seeds in every build: 25 of each scenario. What they promise is in sim/checkers.
#include "sim/sim.hpp"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

constexpr std::uint64_t seeds_of_each = 25;

class Seeds : public testing::TestWithParam<std::string_view> {};

TEST_P(Seeds, BreakNoPromise) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 0; seed < seeds_of_each; ++seed) {
    const Report report = run(seed, GetParam());
    EXPECT_TRUE(report.passed()) << text(report);
    add(counts, report);
  }
  // A world in which nothing happens proves nothing.
  EXPECT_GT(counts["granted"], 50 * seeds_of_each);
  EXPECT_GT(counts["renewed"], 0U);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Seeds, testing::ValuesIn([] {
                           std::vector<std::string_view> names;
                           for (const Scenario& scenario : scenarios()) {
                             names.push_back(scenario.name);
                           }
                           return names;
                         }()),
                         [](const auto& seeds) { return std::string{seeds.param}; });

TEST(Seed, IsTheWholeWorld) {
  for (const Scenario& scenario : scenarios()) {
    const Report first = run(7, scenario.name);
    const Report second = run(7, scenario.name);
    EXPECT_EQ(first.hash, second.hash) << scenario.name;
    EXPECT_EQ(first.steps, second.steps) << scenario.name;
    EXPECT_EQ(first.counts, second.counts) << scenario.name;
    EXPECT_NE(first.hash, run(8, scenario.name).hash) << scenario.name;
  }
}

TEST(Seed, GivesTheSameTraceWhenItIsPrinted) {
  std::size_t lines = 0;
  const Report printed = run(3, "everything", [&](const std::string&) { ++lines; });
  EXPECT_GT(lines, 100U);
  EXPECT_EQ(printed.hash, run(3, "everything").hash);
}

// What no lock can prevent is seen, counted, and refused by the guard.
TEST(Seeds, ShowWhatALockAloneLetsThrough) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 0; seed < 3 * seeds_of_each; ++seed) {
    add(counts, run(seed, seed % 3 == 0 ? "pauses" : seed % 3 == 1 ? "partitions" : "clocks"));
  }
  EXPECT_GT(counts["stale writes that landed without a guard"], 0U);
  EXPECT_EQ(counts["stale writes that landed without a guard"],
            counts["stale writes refused by a guard"]);
  EXPECT_GT(counts["overlaps after the store forgot a lease"], 0U);
}

TEST(Report, SaysHowToSeeItAgain) {
  Report report;
  report.seed = 12;
  report.scenario = "loss";
  report.violations.push_back({"fences", std::chrono::seconds{3}, "too low"});
  const std::string said = text(report);
  EXPECT_NE(said.find("FAILED"), std::string::npos);
  EXPECT_NE(said.find("at 3.000 s, fences: too low"), std::string::npos);
  EXPECT_NE(said.find("holdfast sim --scenario loss --seed 12 --trace"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::sim

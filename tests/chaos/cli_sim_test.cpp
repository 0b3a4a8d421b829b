// `holdfast sim`: seeds from the command line.
#include "tests/chaos/command_test.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace holdfast::test {

namespace {

using Json = nlohmann::json;

std::string sim(std::vector<std::string> options, int code = 0) {
  std::vector<std::string> arguments{HOLDFAST_COMMAND, "sim"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  Process child({.args = std::move(arguments)});
  EXPECT_EQ(child.wait(60s), code) << child.err() << child.out();
  return child.out();
}

TEST(SimCommand, RunsSeedsAndSumsUp) {
  EXPECT_NE(sim({"--seeds", "3"}).find("3 seeds of 'everything' passed, 0 failed"),
            std::string::npos);
  EXPECT_NE(sim({"--scenarios"}).find("everything"), std::string::npos);
}

TEST(SimCommand, ASeedGivesOneWorld) {
  const std::string once = sim({"--seed", "7", "--scenario", "crashes", "--json"});
  EXPECT_EQ(once, sim({"--seed", "7", "--scenario", "crashes", "--json"}));
  const Json report = Json::parse(once);
  EXPECT_EQ(report["seed"], 7);
  EXPECT_EQ(report["scenario"], "crashes");
  EXPECT_EQ(report["passed"], true);
  EXPECT_EQ(report["violations"], Json::array());
  std::istringstream lines{sim({"--from", "6", "--seeds", "2", "--scenario", "crashes", "--json"})};
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  EXPECT_EQ(Json::parse(line), report);
  EXPECT_NE(sim({"--seed", "7", "--trace"}).size(), sim({"--seed", "7"}).size());
}

TEST(SimCommand, RefusesNonsense) {
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--scenario", "doom"}, {"--seed", "x"}, {"--seeds", "-1"}}) {
    sim(options, 64);
  }
}

}  // namespace

}  // namespace holdfast::test

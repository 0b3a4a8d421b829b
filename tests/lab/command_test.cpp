// `holdfast lab` without a browser.
#include "test_paths.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

std::string lab(std::vector<std::string> options, int code = 0) {
  std::vector<std::string> arguments{HOLDFAST_COMMAND, "lab"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  Process child({.args = std::move(arguments)});
  EXPECT_EQ(child.wait(20s), code) << child.err() << child.out();
  return code == 0 ? child.out() : child.err();
}

TEST(LabCommand, WritesThePictureOfAStory) {
  const TempDir folder;
  const std::string path = (folder / "pause.svg").string();
  EXPECT_NE(lab({"--story", "gc-pause", "--svg", path}).find("1 double payout"), std::string::npos);
  std::ifstream in{path};
  const std::string svg{std::istreambuf_iterator<char>{in}, {}};
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_NE(svg.find("stands still"), std::string::npos);
  EXPECT_EQ(lab({"--story", "gc-pause", "--svg", "-"}), svg);
}

TEST(LabCommand, ASeedAndSwitchesDecideEverything) {
  const std::vector<std::string> options{"--story", "gc-pause", "--seed", "7",
                                         "--set",   "guard=on", "--json"};
  const std::string once = lab(options);
  EXPECT_EQ(once, lab(options));
  const Json told = Json::parse(once);
  EXPECT_EQ(told["address"], "story=gc-pause&guard=on&seed=7");
  EXPECT_EQ(told["verdict"]["double_payouts"], 0);
  EXPECT_EQ(told["verdict"]["refused"], 1);
  EXPECT_EQ(told["verdict"]["broken"], false);
}

TEST(LabCommand, FreePlayTakesKnobs) {
  const Json told = Json::parse(lab({"--set", "instances=2,orders=3,pause=0s", "--json"}));
  EXPECT_EQ(told["story"], "free");
  EXPECT_EQ(told["lanes"].size(), 4U);
  EXPECT_EQ(told["verdict"]["paid"], 3);
}

TEST(LabCommand, ListsWhatThereIs) {
  const std::string list = lab({"--stories"});
  for (const char* const word : {"gc-pause", "setnx-expire", "guard=off", "ttl=3s", "free"}) {
    EXPECT_NE(list.find(word), std::string::npos) << word;
  }
}

TEST(LabCommand, RefusesNonsense) {
  EXPECT_NE(lab({"--story", "doom", "--json"}, 64).find("there is no story 'doom'"),
            std::string::npos);
  lab({"--story", "gc-pause", "--set", "guard", "--json"}, 64);
  lab({"--story", "gc-pause", "--set", "guard=2", "--json"}, 64);
  lab({"--seed", "x", "--json"}, 64);
  lab({"--story", "gc-pause", "--svg", "/nowhere/at/all.svg"}, 64);
}

}  // namespace

}  // namespace holdfast::test

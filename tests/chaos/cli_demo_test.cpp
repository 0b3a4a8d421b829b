// `holdfast demo payout` on each store, and the order of many runs of one name.
#include "tests/chaos/command_test.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <vector>

namespace holdfast::test {

namespace {

using Json = nlohmann::json;

class DemoTest : public CommandTest {
 protected:
  Json play(std::vector<std::string> options, int code) const {
    std::vector<std::string> arguments{"demo", "payout", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Process child{command(std::move(arguments))};
    EXPECT_EQ(child.wait(60s), code) << child.err();
    return Json::parse(child.out());
  }
};

TEST_P(DemoTest, PaysEveryOrderOnce) {
  const Json result = play({}, 0);
  EXPECT_EQ(result["instances"], 6);
  EXPECT_GE(result["ran"], 2);
  EXPECT_EQ(result["ran"].get<int>() + result["busy"].get<int>(), 6);
  EXPECT_GE(result["stale_refused"], 1);
  EXPECT_EQ(result["paid"], 200);
  EXPECT_EQ(result["double_payouts"], 0);
  const auto fences = result["fences"].get<std::vector<std::int64_t>>();
  ASSERT_GE(fences.size(), 2U);
  for (std::size_t i = 1; i < fences.size(); ++i) {
    EXPECT_GT(fences[i], fences[i - 1]);
  }
}

TEST_P(DemoTest, ShowsWhatALockAloneLetsThrough) {
  const Json result = play({"--no-guard", "--instances", "3", "--orders", "60"}, 1);
  EXPECT_EQ(result["instances"], 3);
  EXPECT_EQ(result["stale_refused"], 0);
  EXPECT_EQ(result["paid"], 60);
  EXPECT_GT(result["double_payouts"], 0);
  Process story{command({"demo", "payout", "--no-guard"})};
  EXPECT_EQ(story.wait(60s), 1);
  EXPECT_NE(story.out().find("paid twice"), std::string::npos) << story.out();
  EXPECT_NE(story.out().find("FROZEN"), std::string::npos) << story.out();
}

TEST_P(DemoTest, SmallestScene) {
  const Json result = play({"--instances", "2", "--orders", "40"}, 0);
  EXPECT_EQ(result["ran"], 2);
  EXPECT_EQ(result["busy"], 0);
}

TEST_P(DemoTest, RefusesNonsense) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"demo"},
                                             {"demo", "opera"},
                                             {"demo", "payout", "--instances", "1"},
                                             {"demo", "payout", "--orders", "39"},
                                             {"demo", "payout", "--store", "nosuch://h"}}) {
    Process child{command(arguments)};
    EXPECT_EQ(child.wait(), 64) << ::testing::PrintToString(arguments) << child.err();
  }
  Process child{command({"demo", "payout", "--store", "redis://127.0.0.1:1"})};
  EXPECT_EQ(child.wait(), 69) << child.err();
}

INSTANTIATE_TEST_SUITE_P(Stores, DemoTest, command_stores, store_name);

class Crowd : public CommandTest {};

TEST_P(Crowd, EightRunsOfOneSecondFollowEachOtherWithoutGaps) {
  std::vector<std::unique_ptr<Process>> runs;
  const auto start = boot_now();
  for (int i = 0; i < 8; ++i) {
    runs.push_back(std::make_unique<Process>(run({"--wait", "forever"}, {"sleep", "1"})));
  }
  for (const auto& each : runs) {
    EXPECT_EQ(each->wait(), 0) << each->err();
  }
  const auto took = boot_now() - start;
  EXPECT_GE(took, 8s);
  EXPECT_LE(took, 9500ms);
  RecordProperty("seconds", std::to_string(std::chrono::duration<double>{took}.count()));
}

TEST_P(Crowd, WaitersAreServedInTheOrderTheyCame) {
  Process holder{run_script({}, "echo > started; while [ ! -e go ]; do sleep 0.02; done")};
  ASSERT_TRUE(eventually([&] { return exists("started"); }));
  std::vector<std::unique_ptr<Process>> waiters;
  for (int i = 0; i < 5; ++i) {
    waiters.push_back(std::make_unique<Process>(
        run_script({"--wait", "forever"}, "echo " + std::to_string(i) + " >> log")));
    ASSERT_TRUE(eventually(
        [&] { return waiters.back()->err().find("waiting for n") != std::string::npos; }));
  }
  std::ofstream{file("go")} << "now";
  for (const auto& each : waiters) {
    EXPECT_EQ(each->wait(), 0) << each->err();
  }
  EXPECT_EQ(content("log"), "0\n1\n2\n3\n4\n");
}

INSTANTIATE_TEST_SUITE_P(Stores, Crowd, command_stores, store_name);

}  // namespace

}  // namespace holdfast::test

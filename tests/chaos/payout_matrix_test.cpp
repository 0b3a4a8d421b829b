// What each way to be safe lets through under each fault, on real servers:
// `holdfast demo payout --matrix`. The full form plays each case twenty times.
#include "tests/chaos/command_test.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/support/postgres_server.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace holdfast::test {

namespace {

using chaos::figure;
using chaos::short_or_full;
using Json = nlohmann::json;

class PayoutMatrix : public CommandTest {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
    CommandTest::SetUp();
  }
  static std::string database() { return PostgresServer::shared().new_database(); }
};

TEST_P(PayoutMatrix, OnlyADatabaseGuardKeepsEveryPayoutSingle) {
  HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  const std::string url = database();
  Process demo{command({"demo", "payout", "--matrix", "--json", "--db", url, "--runs",
                        std::to_string(short_or_full(1, 20))})};
  ASSERT_EQ(demo.wait(short_or_full(60s, 1200s)), 0) << demo.err();
  const Json matrix = Json::parse(demo.out());
  int tried = 0;
  for (const Json& cell : matrix["cells"]) {
    if (cell["runs"] == 0) {
      EXPECT_EQ(cell["way"], "SKIP LOCKED, no lock") << cell;  // there is no lock to lose
      continue;
    }
    ++tried;
    const bool guarded = cell["guarded"];
    const bool overlaps =
        cell["fault"] == "pause" || cell["fault"] == "lost lock" || cell["fault"] == "failover";
    EXPECT_EQ(cell["unpaid"], 0) << cell;
    if (guarded) {
      EXPECT_EQ(cell["double_payouts"], 0) << cell;
    } else if (cell["fault"] != "no fault") {
      EXPECT_GE(cell["double_payouts"], cell["runs"]) << cell;
    }
    if (guarded && overlaps && cell["way"] != "SKIP LOCKED, no lock") {
      EXPECT_EQ(cell["refused"], cell["runs"]) << "the late write met the guard: " << cell;
    }
    figure("matrix ", GetParam(), " ", cell["way"].get<std::string>(), " / ",
           cell["fault"].get<std::string>(), ": runs=", cell["runs"],
           " double_payouts=", cell["double_payouts"], " refused=", cell["refused"]);
  }
  EXPECT_EQ(tried, 28);
  EXPECT_EQ(PostgresServer::run_at(url,
                                   "SELECT count(*) FROM pg_namespace WHERE nspname LIKE "
                                   "'holdfast_demo%'"),
            "0")
      << "the demo cleans up";
}

TEST_P(PayoutMatrix, RefusesNonsense) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {}, {"--db", "sqlite:///tmp/x"}, {"--db", "postgres://h/d", "--runs", "0"}}) {
    std::vector<std::string> arguments{"demo", "payout", "--matrix"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Process child{command(arguments)};
    EXPECT_EQ(child.wait(), 64) << ::testing::PrintToString(arguments) << child.err();
  }
  Process child{
      command({"demo", "payout", "--matrix", "--db", "postgres://postgres@127.0.0.1:1/none"})};
  EXPECT_EQ(child.wait(), 69) << child.err();
  EXPECT_EQ(std::ranges::count(child.err().substr(child.err().rfind("holdfast")), '\n'), 1)
      << "one clear line: " << child.err();
}

INSTANTIATE_TEST_SUITE_P(Stores, PayoutMatrix, command_stores, store_name);

}  // namespace

}  // namespace holdfast::test

// `holdfast demo split-brain`: it tells only what happened on its servers.
#include "tests/chaos/command_test.hpp"
#include "tests/support/redis_sentinels.hpp"
#include "tests/support/required.hpp"

#include <nlohmann/json.hpp>

namespace holdfast::test {
namespace {

TEST(DemoSplitBrain, HappensAsTold) {
  HOLDFAST_NEEDS("redis", RedisSentinels::installed(), RedisSentinels::how_to_install);
  Process demo{{.args = {HOLDFAST_COMMAND, "demo", "split-brain", "--json"}}};
  ASSERT_EQ(demo.wait(60s), 0) << demo.out() << demo.err();
  const auto facts = nlohmann::json::parse(demo.out());
  for (const char* fact : {"naive_has_two_holders", "holder_is_told", "fence_rises",
                           "guard_refuses", "late_ok", "acks_refuse", "min_replicas_refuse"}) {
    EXPECT_TRUE(facts.at(fact).get<bool>()) << fact;
  }
  EXPECT_LT(facts.at("told_after_ms"), facts.at("next_renewal_after_ms"));
}

}  // namespace
}  // namespace holdfast::test

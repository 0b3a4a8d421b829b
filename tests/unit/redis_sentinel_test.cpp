// Sentinel's words: which server is the primary by them, what news means, what an operator is told.
#include "store/redis/primary_search.hpp"
#include "store/redis/replica_acks.hpp"
#include "store/redis/sentinel_news.hpp"
#include "store/redis/sentinel_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{10s};

SentinelWord word(const std::string& host, std::uint64_t epoch) {
  return {.primary = {host, 6379}, .epoch = epoch, .replicas = 1};
}

class Search : public testing::Test {
 protected:
  PrimarySearch search_{3, "mymaster", {.server = "mymaster of Sentinel at a,b,c"}};

  std::string found(Instant now = start) const {
    const auto result = search_.result(now);
    const auto* word = result ? std::get_if<SentinelWord>(&*result) : nullptr;
    return word != nullptr ? word->primary.host : "";
  }
  std::error_code failed() const {
    const auto result = search_.result(start);
    const auto* why = result ? std::get_if<Failed>(&*result) : nullptr;
    return why != nullptr ? why->code : std::error_code{};
  }
};

TEST_F(Search, EndsWhenMoreThanHalfHaveAnswered) {
  search_.on_word(0, word("db1", 1), start);
  EXPECT_EQ(found(), "");
  search_.on_word(1, word("db1", 1), start);
  EXPECT_EQ(found(), "db1");
}

TEST_F(Search, BelievesTheLatestConfiguration) {
  search_.on_word(0, word("old", 4), start);
  search_.on_word(2, word("new", 5), start);
  EXPECT_EQ(found(), "new");
}

TEST_F(Search, DoesNotWaitLongForTheSilent) {
  search_.on_word(1, word("db1", 1), start);
  EXPECT_EQ(search_.wake_at(), start + PrimarySearch::patience);
  EXPECT_EQ(found(start + PrimarySearch::patience), "db1");
}

TEST_F(Search, OneAnswerIsEnoughWhenTheOthersAreDown) {
  search_.on_failure(0, {errc::store_unavailable, false, "a: connection refused"});
  search_.on_failure(1, {errc::store_unavailable, false, "b: connection refused"});
  EXPECT_FALSE(search_.result(start));
  search_.on_word(2, word("db1", 1), start);
  EXPECT_EQ(found(), "db1");
}

TEST_F(Search, ANameThatAllOfThemLackIsWrong) {
  search_.on_unknown(0);
  search_.on_unknown(1);
  EXPECT_FALSE(search_.result(start));
  search_.on_unknown(2);
  EXPECT_EQ(failed(), errc::invalid_url);
}

TEST_F(Search, ANameThatSomeLackMayBeNew) {
  search_.on_unknown(0);
  search_.on_failure(1, {errc::store_unavailable, false, "b: connection refused"});
  search_.on_unknown(2);
  EXPECT_EQ(failed(), errc::store_unavailable);
}

TEST_F(Search, ARefusalIsToldBeforeASilence) {
  search_.on_failure(0, {errc::store_unavailable, false, "a: no answer"});
  search_.on_failure(1, {errc::access_denied, false, "b: wrong user name or password"});
  search_.on_failure(2, {errc::store_unavailable, false, "c: no answer"});
  EXPECT_EQ(failed(), errc::access_denied);
}

TEST(SentinelNewsTest, TellsOfASwitch) {
  const auto news =
      parse_news("+switch-master", "mymaster 10.0.0.1 6379 10.0.0.2 6380", "mymaster");
  ASSERT_TRUE(news);
  EXPECT_EQ(news->kind, SentinelNews::Kind::switched);
  EXPECT_EQ(news->address, (Address{"10.0.0.2", 6380}));
}

TEST(SentinelNewsTest, TellsWhichReplicaWasSelected) {
  const auto news =
      parse_news("+selected-slave", "slave [::1]:6380 ::1 6380 @ mymaster ::1 6379", "mymaster");
  ASSERT_TRUE(news);
  EXPECT_EQ(news->kind, SentinelNews::Kind::selected);
  EXPECT_EQ(news->address, (Address{"::1", 6380}));
}

TEST(SentinelNewsTest, IgnoresOthersAndNonsense) {
  EXPECT_FALSE(parse_news("+switch-master", "other 10.0.0.1 6379 10.0.0.2 6380", "mymaster"));
  EXPECT_FALSE(parse_news("+switch-master", "mymaster 10.0.0.1 6379 10.0.0.2 0", "mymaster"));
  EXPECT_FALSE(parse_news("+switch-master", "mymaster 10.0.0.1 6379 10.0.0.2 70000", "mymaster"));
  EXPECT_FALSE(parse_news("+switch-master", "", "mymaster"));
  EXPECT_FALSE(parse_news("+selected-slave", "slave a b", "mymaster"));
  EXPECT_FALSE(parse_news("+sdown", "master mymaster 10.0.0.1 6379", "mymaster"));
}

std::vector<Finding::Level> levels(const SentinelWord& judged) {
  std::vector<Finding::Level> all;
  for (const Finding& finding : judge_sentinels(judged)) {
    all.push_back(finding.level);
  }
  return all;
}

TEST(SentinelReport, JudgesNumberQuorumAndReplicas) {
  using enum Finding::Level;
  SentinelWord sound{.replicas = 2, .sentinels = 3, .quorum = 2};
  EXPECT_EQ(levels(sound), std::vector{good});
  SentinelWord lonely{.replicas = 1, .sentinels = 1, .quorum = 1};
  EXPECT_EQ(levels(lonely), std::vector{warning});
  SentinelWord hasty{.replicas = 1, .sentinels = 3, .quorum = 1};
  EXPECT_EQ(levels(hasty), (std::vector{good, warning}));
  SentinelWord stuck{.replicas = 0, .sentinels = 3, .quorum = 4};
  EXPECT_EQ(levels(stuck), (std::vector{good, failure, warning}));
}

TEST(ReplicaAcksTest, HowManyAreWanted) {
  using Kind = ReplicaAcks::Kind;
  EXPECT_EQ((ReplicaAcks{.kind = Kind::count, .count = 2}).wanted(5), 2U);
  EXPECT_EQ((ReplicaAcks{.kind = Kind::majority}).wanted(2), 1U) << "two of three, the primary one";
  EXPECT_EQ((ReplicaAcks{.kind = Kind::majority}).wanted(4), 2U);
  EXPECT_EQ((ReplicaAcks{.kind = Kind::all}).wanted(3), 3U);
  EXPECT_EQ((ReplicaAcks{.kind = Kind::all}).wanted(0), 1U) << "alone it cannot agree with itself";
  EXPECT_EQ(ReplicaAcks{}.wanted(3), 0U);
}

}  // namespace
}  // namespace holdfast::redis

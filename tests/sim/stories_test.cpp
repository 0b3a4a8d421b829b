// Every story ends badly without its cure and well with it, whatever the seed.
#include "sim/stories/story.hpp"

#include "sim/stories/experiment.hpp"

#include <gtest/gtest.h>

#include "sim/random.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

using Turned = std::map<std::string, bool, std::less<>>;

constexpr std::uint64_t seeds = 40;

Timeline told(const Story& story, const Turned& turned, std::uint64_t seed) {
  Trial trial = trial_of(story, turned);
  trial.seed = seed;
  EXPECT_EQ(why_invalid(trial), "") << story.name;
  return tell(trial);
}

std::size_t marks(const Timeline& timeline, MarkKind kind) {
  return static_cast<std::size_t>(std::ranges::count(timeline.marks, kind, &Mark::kind));
}

TEST(Stories, EndBadlyAsTheyStartAndWellWithEachCure) {
  for (const Story& story : stories()) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Timeline bad = told(story, {}, seed);
      EXPECT_TRUE(bad.verdict.broken) << story.name << ' ' << seed << ": " << text(bad.verdict);
      EXPECT_EQ(bad.verdict.objections, 0U) << story.name << ' ' << seed;
      for (const Switch& cure : story.switches) {
        if (cure.cures) {
          const Timeline good = told(story, {{std::string{cure.name}, !cure.on}}, seed);
          EXPECT_FALSE(good.verdict.broken)
              << story.name << ' ' << cure.name << ' ' << seed << ": " << text(good.verdict);
        }
      }
    }
  }
}

TEST(Stories, APauseCostsNothingOrADoublePayoutOrARefusal) {
  const Story& story = *find_story("gc-pause");
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    EXPECT_EQ(told(story, {{"pause", false}}, seed).verdict.double_payouts, 0U);
    EXPECT_GE(told(story, {{"pause", true}}, seed).verdict.double_payouts, 1U);
    const Verdict guarded = told(story, {{"pause", true}, {"guard", true}}, seed).verdict;
    EXPECT_EQ(guarded.double_payouts, 0U);
    EXPECT_GE(guarded.refused, 1U);
  }
}

// A fence from a counter in the store that failed over is no fence.
TEST(Stories, ACounterThatTheFailoverSetsBackDefeatsTheGuard) {
  const Story& story = *find_story("failover");
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    EXPECT_TRUE(told(story, {{"guard", true}, {"counter", true}}, seed).verdict.broken) << seed;
  }
}

// Fences of one round, without marks: what forgot counts, and gives the first one out again.
TEST(Stories, AQuorumOfOneRoundMayDefeatTheGuard) {
  const Story& story = *find_story("redlock-forgetful");
  std::uint64_t broken = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    broken += told(story, {{"guard", true}, {"one-round", true}}, seed).verdict.broken ? 1U : 0U;
  }
  EXPECT_GT(broken, seeds / 4);
}

TEST(Stories, AcknowledgementsLeaveNoOverlap) {
  const Story& story = *find_story("replica-acks");
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    EXPECT_GT(told(story, {}, seed).verdict.overlap, Duration{0}) << seed;
    EXPECT_EQ(told(story, {{"acks", true}}, seed).verdict.overlap, Duration{0}) << seed;
  }
}

TEST(Stories, ASeedGivesOneTimeline) {
  const auto events = [](const Timeline& timeline) {
    std::string all = text(timeline.verdict);
    for (const Mark& mark : timeline.marks) {
      all += '\n' + std::to_string(mark.at.count()) + ' ' + mark.text;
    }
    for (const Span& span : timeline.spans) {
      all += '\n' + std::to_string(span.from.count()) + ' ' + std::to_string(span.to.count());
    }
    return all;
  };
  for (const Story& story : stories()) {
    EXPECT_EQ(events(told(story, {}, 7)), events(told(story, {}, 7))) << story.name;
    EXPECT_NE(events(told(story, {}, 7)), events(told(story, {}, 8))) << story.name;
  }
}

TEST(Stories, ATimelineIsInOrderAndWithinItsLength) {
  for (const Story& story : stories()) {
    const Timeline timeline = told(story, {}, 3);
    EXPECT_TRUE(std::ranges::is_sorted(timeline.marks, {}, &Mark::at)) << story.name;
    for (const Mark& mark : timeline.marks) {
      EXPECT_LE(mark.at, timeline.length) << story.name;
      EXPECT_LT(mark.lane, timeline.lanes.size()) << story.name << ": " << mark.text;
      EXPECT_FALSE(mark.text.empty()) << story.name;
    }
    for (const Span& span : timeline.spans) {
      EXPECT_LE(span.from, span.to) << story.name << ": " << span.text;
      EXPECT_LE(span.to, timeline.length) << story.name << ": " << span.text;
      EXPECT_LT(span.lane, timeline.lanes.size()) << story.name << ": " << span.text;
    }
    EXPECT_EQ(marks(timeline, MarkKind::doubled), timeline.verdict.double_payouts) << story.name;
    EXPECT_EQ(marks(timeline, MarkKind::wrote), timeline.verdict.paid) << story.name;
  }
}

// What is drawn as trusted is the trust window of the engine: two never overlap while the store
// keeps its word, and the store's record outlasts each.
TEST(Stories, TrustEndsBeforeTheRecord) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Timeline timeline = told(*find_story("gc-pause"), {}, seed);
    EXPECT_EQ(timeline.verdict.overlap, Duration{0}) << seed;
    EXPECT_TRUE(std::ranges::any_of(timeline.spans, [](const Span& span) {
      return span.kind == SpanKind::margin;
    })) << seed;
    for (const Window& window : timeline.windows) {
      EXPECT_LT(window.trusted_until, window.kept_until) << seed;
    }
  }
}

void draw_servers(Trial& trial, Random& random) {
  if (random.chance(500)) {
    trial.replicas = 2;
    trial.replica_lag = std::chrono::milliseconds{random.between(5, 100)};
    trial.acks = random.below(3);
    trial.left_behind = random.chance(700);
  } else {
    trial.nodes = random.chance(500) ? 3 : 5;
    trial.dead_nodes = random.chance(500);
    trial.quorum_forget = random.chance(500);
    trial.quorum_jump = std::chrono::milliseconds{random.between(0, 9000)};
  }
}

Trial draw(Random& random) {
  Trial trial;
  trial.seed = random.bits();
  trial.instances = static_cast<std::size_t>(random.between(1, 6));
  trial.orders = static_cast<std::size_t>(random.between(1, 20));
  trial.orders_per_turn = static_cast<std::size_t>(random.between(0, 4));
  trial.work = std::chrono::milliseconds{random.between(10, 1500)};
  trial.ttl = std::chrono::milliseconds{random.between(1000, 8000)};
  trial.watchdog = random.chance(800);
  const auto maybe = [&](std::int64_t most) {
    return random.chance(300) ? Duration{std::chrono::milliseconds{random.between(1, most)}}
                              : Duration{0};
  };
  const auto moment = [&] { return static_cast<Moment>(random.below(5)); };
  trial.lock_delay = maybe(3000);
  trial.pause = maybe(12'000);
  trial.pause_at = moment();
  trial.crash = random.chance(300);
  trial.crash_at = moment();
  trial.cut = maybe(9000);
  trial.cut_at = moment();
  trial.write_delay = maybe(9000);
  trial.failover = random.chance(300);
  trial.split = random.chance(500);
  trial.store_clock_jump = maybe(9000);
  trial.node_clock_jump = maybe(9000);
  trial.loss_per_mille = random.chance(300) ? static_cast<int>(random.below(60)) : 0;
  if (random.chance(300)) {
    trial.failover = trial.split = false;
    trial.store_clock_jump = Duration{0};
    draw_servers(trial, random);
  }
  return trial;
}

// Whatever goes wrong: no checker objects, and behind a guard nothing is paid twice.
TEST(Stories, HoldfastWithAGuardPaysNothingTwice) {
  Random random{20261130};
  for (int times = 0; times < 1500; ++times) {
    Trial trial = draw(random);
    trial.protection = Protection::fence;
    const Timeline timeline = tell(trial);
    EXPECT_EQ(timeline.verdict.double_payouts, 0U) << times << ' ' << trial.seed;
    EXPECT_EQ(timeline.verdict.objections, 0U) << times << ' ' << trial.seed;
    for (const Mark& mark : timeline.marks) {
      if (mark.kind == MarkKind::objected) {
        ADD_FAILURE() << mark.text;
      }
    }
  }
}

}  // namespace

}  // namespace holdfast::sim

// The pure parts of the cluster store: slots, addresses, redirections, the map, and the machines.
#include "store/cluster/discovery.hpp"
#include "store/cluster/journey.hpp"
#include "store/cluster/layout.hpp"
#include "store/cluster/pulse.hpp"
#include "store/cluster/redirection.hpp"
#include "store/cluster/slot_map.hpp"
#include "store/redis/keys.hpp"

#include <holdfast/error.hpp>

#include <gtest/gtest.h>

namespace holdfast::cluster {
namespace {

using namespace std::chrono_literals;
using Kind = Redirection::Kind;
using Next = Journey::Next;

const Address a{"10.0.0.1", 7000};
const Address b{"10.0.0.2", 7000};
const Address c{"10.0.0.3", 7000};
const Instant start{1000s};

TEST(ClusterSlot, IsThatOfTheSpecification) {
  EXPECT_EQ(crc16("123456789"), 0x31C3);
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("{user1000}.followers"));
  EXPECT_EQ(slot_of("foo{}{bar}"), crc16("foo{}{bar}") % slot_count);
  EXPECT_EQ(slot_of("foo{bar}{zap}"), slot_of("bar"));
}

TEST(ClusterSlot, AllKeysOfANameAreInOne) {
  for (const std::string prefix : {"lock:", "{app}:", "a{b}", ""}) {
    const redis::RedisKeys keys{prefix};
    for (const std::string name : {"a", "a{b}c{d}", "{x}y", "a/b", "}{"}) {
      if (!valid_name(name)) continue;
      const Slot slot = slot_of(keys.lock(name));
      EXPECT_EQ(slot_of(keys.helper(redis::RedisKeys::Kind::fence, name)), slot) << prefix << name;
      EXPECT_EQ(slot_of(keys.tombstone(name, OwnerId{})), slot) << prefix << name;
      EXPECT_EQ(slot_of(keys.done_mark(name, "run}{1")), slot) << prefix << name;
    }
  }
}

TEST(ClusterAddress, SplitsAtTheLastColon) {
  EXPECT_EQ(Address::parse("127.0.0.1:7001", a), (Address{"127.0.0.1", 7001}));
  EXPECT_EQ(Address::parse("::1:7001", a), (Address{"::1", 7001}));
  EXPECT_EQ(Address::parse("[::1]:7001", a), (Address{"::1", 7001}));
  EXPECT_EQ(Address::parse("db1.example:7001", a), (Address{"db1.example", 7001}));
  EXPECT_EQ(Address::parse(":7001", a), (Address{a.host, 7001}));
  EXPECT_EQ(Address::parse("?:7001", a), (Address{a.host, 7001}));
  for (const char* bad : {"", ":", "h", "h:", "h:0", "h:70000", "h:7001x", "h h:1", "h:-1"}) {
    EXPECT_FALSE(Address::parse(bad, a)) << bad;
  }
  EXPECT_EQ((Address{"::1", 7001}.text()), "[::1]:7001");
}

TEST(ClusterRedirection, EachKind) {
  const Redirection moved = parse_redirection("MOVED 3999 ::1:6381", a);
  EXPECT_EQ(moved.kind, Kind::moved);
  EXPECT_EQ(moved.slot, 3999);
  EXPECT_EQ(moved.to, (Address{"::1", 6381}));
  EXPECT_EQ(parse_redirection("MOVED 3999 :6381", a).to, (Address{a.host, 6381}));
  EXPECT_EQ(parse_redirection("ASK 1 h:2", a).kind, Kind::ask);
  EXPECT_EQ(parse_redirection("TRYAGAIN Multiple keys request", a).kind, Kind::unstable);
  for (const char* text :
       {"CLUSTERDOWN The cluster is down", "MASTERDOWN x", "LOADING x", "READONLY You can't",
        "MOVED 99999 h:1", "MOVED x h:1", "MOVED 1 h", "ASK 1 "}) {
    EXPECT_EQ(parse_redirection(text, a).kind, Kind::trouble) << text;
    EXPECT_FALSE(parse_redirection(text, a).may_have_had_effect);
  }
  EXPECT_EQ(parse_redirection("ERR syntax", a).kind, Kind::none);
  EXPECT_EQ(parse_redirection("MOVEDX 1 h:1", a).kind, Kind::none);
  const Redirection half =
      parse_redirection("ERR Script attempted to access a non local key in a cluster node", a);
  EXPECT_EQ(half.kind, Kind::unstable);
  EXPECT_TRUE(half.may_have_had_effect);
}

std::optional<Layout> layout_of(std::string_view text) {
  redis::RespReader reader;
  reader.feed(text);
  return parse_layout(*reader.next(), a);
}

TEST(ClusterLayout, HostsThatAreLeftOpenAreTheOneThatAnswered) {
  const auto layout = layout_of(
      "*3\r\n"
      "*4\r\n:0\r\n:5\r\n*3\r\n$8\r\n10.0.0.2\r\n:7000\r\n$1\r\nx\r\n"
      "*3\r\n$0\r\n\r\n:7001\r\n$1\r\ny\r\n"
      "*3\r\n:6\r\n:7\r\n*3\r\n$-1\r\n:7002\r\n$1\r\nz\r\n"
      "*3\r\n:8\r\n:9\r\n*3\r\n$1\r\n?\r\n:0\r\n$1\r\nz\r\n");
  ASSERT_TRUE(layout);
  ASSERT_EQ(layout->size(), 2U) << "a node without a port cannot be asked";
  EXPECT_EQ(layout->at(0).primary, b);
  EXPECT_EQ(layout->at(0).replicas.at(0), (Address{a.host, 7001}));
  EXPECT_EQ(layout->at(1).primary, (Address{a.host, 7002}));
}

TEST(ClusterLayout, NonsenseIsRefused) {
  for (const char* text : {":1\r\n", "*1\r\n:1\r\n", "*1\r\n*3\r\n:5\r\n:4\r\n*0\r\n",
                           "*1\r\n*3\r\n:0\r\n:16384\r\n*0\r\n", "*1\r\n*2\r\n:0\r\n:1\r\n"}) {
    EXPECT_FALSE(layout_of(text)) << text;
  }
}

TEST(ClusterMap, TellsWhenASlotGotAnotherPrimary) {
  SlotMap map;
  EXPECT_EQ(map.primary_of(0), nullptr);
  EXPECT_FALSE(map.apply({{.first = 0, .last = 99, .primary = a, .replicas = {c}},
                          {.first = 100, .last = 199, .primary = b}}))
      << "nothing was granted before";
  EXPECT_EQ(*map.primary_of(99), a);
  EXPECT_EQ(*map.primary_of(100), b);
  EXPECT_EQ(map.uncovered(), 16384U - 200);
  EXPECT_EQ(map.replicas_of(a), 1U);
  EXPECT_EQ(map.nodes(), (std::vector{a, b, c}));
  EXPECT_FALSE(map.move(5, a));
  EXPECT_TRUE(map.move(5, b));
  EXPECT_EQ(*map.primary_of(5), b);
  EXPECT_TRUE(map.apply({{.first = 0, .last = 99, .primary = c}}));
  EXPECT_EQ(map.primary_of(100), nullptr);
  EXPECT_TRUE(map.lost_any());
  EXPECT_TRUE(map.apply({{.first = 0, .last = 199, .primary = c}}))
      << "100 was of b, then of nobody";
  EXPECT_FALSE(map.apply({{.first = 0, .last = 199, .primary = c}}));
  EXPECT_EQ(map.primaries(), std::vector{c});
}

Failed refused() { return {errc::store_unavailable, false, "refused"}; }

TEST(ClusterJourney, FollowsAtOnceAndThenWithPauses) {
  Journey journey{7, start + 2s};
  for (int i = 0; i < Journey::hops_max; ++i) {
    EXPECT_EQ(journey.on_redirection({.kind = Kind::moved, .to = b}, refused(), start), Next::send);
    EXPECT_EQ(journey.redirected_to(), b);
    EXPECT_FALSE(journey.asking());
  }
  EXPECT_EQ(journey.on_redirection({.kind = Kind::moved, .to = a}, refused(), start), Next::wait);
  EXPECT_FALSE(journey.redirected_to()) << "by the map, once the pause is over";
  EXPECT_EQ(journey.wake_at(), start + Journey::pause_first);
}

TEST(ClusterJourney, AsksOnceAndGoesBackToTheMap) {
  Journey journey{7, start + 2s};
  EXPECT_EQ(journey.on_redirection({.kind = Kind::ask, .to = b}, refused(), start), Next::send);
  EXPECT_TRUE(journey.asking());
  EXPECT_EQ(journey.on_redirection({.kind = Kind::unstable}, refused(), start), Next::wait);
  EXPECT_FALSE(journey.asking());
  EXPECT_FALSE(journey.redirected_to());
  EXPECT_EQ(journey.on_time(start + 5ms), Next::send);
}

TEST(ClusterJourney, PausesGrowAndEndAtTheDeadlineWithTheLastWord) {
  Journey journey{7, start + 200ms};
  Instant now = start;
  int tries = 0;
  while (journey.on_unreachable(refused(), now) == Next::wait) {
    EXPECT_LE(journey.wake_at() - now, Journey::pause_longest);
    now = journey.wake_at();
    ++tries;
    if (journey.on_time(now) == Next::finish) break;
  }
  EXPECT_EQ(now, start + 200ms);
  EXPECT_GE(tries, 6);
  EXPECT_EQ(journey.failure().detail, "refused");
  EXPECT_FALSE(journey.failure().may_have_had_effect);
}

TEST(ClusterJourney, AScriptThatWasCutShortIsRemembered) {
  Journey journey{7, start + 1s};
  EXPECT_EQ(journey.on_redirection({.kind = Kind::unstable, .may_have_had_effect = true}, refused(),
                                   start),
            Next::wait);
  journey.on_unreachable(refused(), start + 1s);
  EXPECT_TRUE(journey.failure().may_have_had_effect);
}

TEST(ClusterDiscovery, OneAtATimeTheNextAfterAMomentOfSilence) {
  Discovery discovery{{a, b}};
  EXPECT_FALSE(discovery.next({}, start)) << "nobody wants a map";
  discovery.want(start, Discovery::Why::start);
  EXPECT_EQ(discovery.next({}, start), a);
  EXPECT_FALSE(discovery.next({}, start));
  EXPECT_EQ(discovery.wake_at(), start + Discovery::silence);
  EXPECT_EQ(discovery.next({}, start + Discovery::silence), b);
  EXPECT_FALSE(discovery.next({}, start + 10s));
  discovery.on_layout(b, start + 300ms);
  EXPECT_FALSE(discovery.looking());
  EXPECT_EQ(discovery.wake_at(), Instant::max());
  EXPECT_FALSE(discovery.on_failure(a, start + 2s)) << "late: it ends no look";
  discovery.want(start + 3s, Discovery::Why::trouble);
  EXPECT_EQ(discovery.next({a, b, c}, start + 3s), b) << "who answered last";
  discovery.on_failure(b, start + 3s);
  EXPECT_EQ(discovery.next({a, b, c}, start + 3s), c) << "who failed is asked last";
}

TEST(ClusterDiscovery, IsBoundedInRate) {
  Discovery discovery{{a}};
  discovery.want(start, Discovery::Why::start);
  discovery.next({}, start);
  discovery.on_layout(a, start);
  discovery.want(start, Discovery::Why::move);
  EXPECT_EQ(discovery.wake_at(), start + Discovery::after_move);
  discovery.want(start, Discovery::Why::trouble);
  EXPECT_EQ(discovery.wake_at(), start + Discovery::after_trouble);
  EXPECT_FALSE(discovery.next({a}, start + 99ms));
  EXPECT_EQ(discovery.next({a}, start + 100ms), a);
}

TEST(ClusterDiscovery, PausesGrowWhenNobodyAnswers) {
  Discovery discovery{{a}};
  Instant now = start;
  for (const Duration pause : {50ms, 100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    discovery.want(now, Discovery::Why::start);
    now = std::max(now, discovery.wake_at());
    EXPECT_EQ(discovery.next({}, now), a);
    EXPECT_TRUE(discovery.on_failure(a, now));
    discovery.want(now, Discovery::Why::start);
    EXPECT_EQ(discovery.wake_at(), now + pause);
  }
}

TEST(ClusterPulse, ASilentNodeIsInDoubtUntilItAnswers) {
  Pulse pulse;
  EXPECT_TRUE(pulse.due({a, b}, start).empty()) << "nothing is held";
  pulse.used(start);
  EXPECT_EQ(pulse.due({a, b}, start), (std::vector{a, b}));
  pulse.on_answer(b, true);
  EXPECT_TRUE(pulse.due({a, b}, start + 100ms).empty());
  EXPECT_FALSE(pulse.in_doubt(start + 299ms));
  EXPECT_TRUE(pulse.in_doubt(start + 300ms));
  EXPECT_EQ(pulse.wake_at(start + 300ms), start + 400ms);
  pulse.on_answer(a, true);
  EXPECT_FALSE(pulse.in_doubt(start + 400ms));
  EXPECT_EQ(pulse.due({a, b}, start + 1s), (std::vector{a, b}));
  pulse.on_answer(a, false);
  EXPECT_TRUE(pulse.in_doubt(start + 1s));
  pulse.due({b}, start + 1s);
  pulse.on_answer(b, true);
  EXPECT_FALSE(pulse.in_doubt(start + 1s)) << "it serves no slot any more";
  EXPECT_EQ(pulse.wake_at(start + Pulse::idle_after), Instant::max());
}

}  // namespace
}  // namespace holdfast::cluster

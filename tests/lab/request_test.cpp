#include "lab/request.hpp"

#include "sim/random.hpp"
#include "sim/stories/experiment.hpp"
#include "sim/stories/knob.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;

Pairs pairs_of(std::string address) {
  Pairs pairs;
  address += '&';
  for (std::size_t start = 0; start < address.size();) {
    const std::size_t end = address.find('&', start);
    const std::string item = address.substr(start, end - start);
    pairs.emplace_back(item.substr(0, item.find('=')), item.substr(item.find('=') + 1));
    start = end + 1;
  }
  return pairs;
}

std::string refusal(const std::string& address) {
  try {
    parse_request(pairs_of(address));
  } catch (const BadRequest& error) {
    return error.what();
  }
  return {};
}

TEST(LabRequest, AStoryWithItsSwitchesAndASeed) {
  const Request request = parse_request(pairs_of("story=gc-pause&guard=on&seed=7"));
  EXPECT_EQ(request.story, sim::find_story("gc-pause"));
  EXPECT_EQ(request.trial.protection, sim::Protection::fence);
  EXPECT_EQ(request.trial.pause, 5s);
  EXPECT_EQ(request.trial.seed, 7U);
}

TEST(LabRequest, FreePlayTurnsKnobs) {
  const Request request =
      parse_request(pairs_of("ttl=1500ms&instances=5&protocol=set-px&owner-check=on"));
  EXPECT_EQ(request.story, nullptr);
  EXPECT_EQ(request.trial.ttl, 1500ms);
  EXPECT_EQ(request.trial.instances, 5U);
  EXPECT_EQ(request.trial.protocol, sim::Protocol::set_px);
  EXPECT_TRUE(request.trial.owner_check);
}

TEST(LabRequest, AnAddressLeadsBack) {
  for (const char* const address :
       {"story=gc-pause&seed=1", "story=gc-pause&pause=off&guard=on&seed=12",
        "story=free&instances=5&ttl=1500ms&seed=3", "story=free&margin=100ms&pause=0s&seed=9",
        "story=no-lock&skip-locked=on&seed=9007199254740991"}) {
    EXPECT_EQ(address_of(parse_request(pairs_of(address))), address);
  }
}

TEST(LabRequest, EveryKnobTakesItsEndsAndNothingBeyond) {
  for (const sim::Knob& knob : sim::knobs()) {
    sim::Trial trial;
    for (const std::int64_t value : {knob.low, knob.high}) {
      knob.set(trial, value);
      const std::string shown = text(knob, trial);
      sim::Trial other;
      EXPECT_EQ(sim::turn(other, knob.name, shown), "") << knob.name;
      EXPECT_EQ(knob.get(other), value) << knob.name;
    }
    if (knob.kind == sim::Knob::Kind::count) {
      EXPECT_NE(sim::turn(trial, knob.name, std::to_string(knob.high + 1)), "") << knob.name;
      EXPECT_NE(sim::turn(trial, knob.name, std::to_string(knob.low - 1)), "") << knob.name;
    }
    EXPECT_NE(sim::turn(trial, knob.name, ""), "") << knob.name;
  }
}

TEST(LabRequest, NonsenseIsRefusedWithALine) {
  EXPECT_EQ(refusal("story=doom"), "there is no story 'doom'");
  EXPECT_EQ(refusal("story=gc-pause&ttl=3s"), "the story gc-pause has no switch 'ttl'");
  EXPECT_EQ(refusal("story=gc-pause&guard=maybe"), "guard=maybe is not on or off");
  EXPECT_EQ(refusal("ttl=5x"), "ttl=5x is not a time from 500ms to 600s");
  EXPECT_EQ(refusal("instances=21"), "instances=21 is not a number from 1 to 20");
  EXPECT_EQ(refusal("doom=1"), "there is nothing called 'doom'");
  EXPECT_EQ(refusal("seed=1&seed=2"), "seed is given twice");
  EXPECT_EQ(refusal("seed=-1"), "seed=-1 is not a number from 0 to 9007199254740991");
  EXPECT_EQ(refusal("seed=9007199254740992"),
            "seed=9007199254740992 is not a number from 0 to 9007199254740991");
  EXPECT_EQ(refusal("ttl=2s&margin=1s"), "the margin must be below half of the TTL");
  EXPECT_EQ(refusal("protocol=set-px&database=guard"),
            "a guard needs fences: take protocol holdfast, or a counter");
}

// What comes from outside is refused or played, whatever it is.
TEST(LabRequest, AnythingIsAnsweredOrRefused) {
  sim::Random random{7};
  std::vector<std::string> names{"story", "seed", "guard", "pause", "", "=", "\xff"};
  for (const sim::Knob& knob : sim::knobs()) {
    names.emplace_back(knob.name);
  }
  const std::vector<std::string> values{"on",    "off",  "0",     "1",     "2",
                                        "3s",    "-1",   "1e9",   "500ms", "9999999999999999999",
                                        "any",   "none", "",      "%00",   "gc-pause",
                                        "guard", "free", "set-px"};
  int played = 0;
  for (int times = 0; times < 20'000; ++times) {
    Pairs pairs;
    for (auto left = random.between(0, 4); left > 0; --left) {
      pairs.emplace_back(random.pick<std::string>(names), random.pick<std::string>(values));
    }
    try {
      Request request = parse_request(pairs);
      EXPECT_EQ(address_of(parse_request(pairs_of(address_of(request)))), address_of(request));
      if (random.chance(50)) {
        sim::tell(request.trial);
        ++played;
      }
    } catch (const BadRequest& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
  EXPECT_GT(played, 10);
}

}  // namespace

}  // namespace holdfast::lab

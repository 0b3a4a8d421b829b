#include "base/duration_text.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

TEST(DurationText, Parses) {
  EXPECT_EQ(parse_duration("0"), 0ns);
  EXPECT_EQ(parse_duration("0s"), 0ns);
  EXPECT_EQ(parse_duration("1ns"), 1ns);
  EXPECT_EQ(parse_duration("999us"), 999us);
  EXPECT_EQ(parse_duration("200ms"), 200ms);
  EXPECT_EQ(parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(parse_duration(".5s"), 500ms);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("2h"), 2h);
  EXPECT_EQ(parse_duration("7d"), 168h);
  EXPECT_EQ(parse_duration("3650d"), 24h * 3650);
}

TEST(DurationText, C09_PartsOfANanosecondRoundUp) {
  EXPECT_EQ(parse_duration("0.1ns"), 1ns);
  EXPECT_EQ(parse_duration("0.0000000001s"), 1ns);
  EXPECT_EQ(parse_duration("1.0000000001us"), 1001ns);
}

TEST(DurationText, C09_RefusesWhatIsNone) {
  for (const char* text : {"",     "10",   "abc",         "s",      "-1s",
                           "-0s",  "1 s",  " 1s",         "1s ",    "1S",
                           "1sec", "1e3s", "0x10s",       "inf",    "infs",
                           "nan",  "nans", "1.5.5s",      "1,5s",   "+1s",
                           "1s2m", "300y", "9300000000s", "1e400s", "99999999999999999999d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(DurationText, ReadsWell) {
  EXPECT_EQ(duration_text(0ns), "0ns");
  EXPECT_EQ(duration_text(1ns), "1ns");
  EXPECT_EQ(duration_text(1500ns), "1.5us");
  EXPECT_EQ(duration_text(200ms), "200ms");
  EXPECT_EQ(duration_text(1500ms), "1.5s");
  EXPECT_EQ(duration_text(90s), "1m30s");
  EXPECT_EQ(duration_text(2h), "2h");
  EXPECT_EQ(duration_text(2h + 5min), "2h5m");
  EXPECT_EQ(duration_text(24h * 7), "7d");
  EXPECT_EQ(duration_text(25h), "1d1h");
  EXPECT_EQ(duration_text(-1500ms), "-1.5s");
  EXPECT_FALSE(duration_text(Duration::min()).empty());
  EXPECT_FALSE(duration_text(Duration::max()).empty());
}

}  // namespace
}  // namespace holdfast

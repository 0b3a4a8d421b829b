#include "core/lease_options.hpp"

#include <holdfast/claim.hpp>

#include "core/trust.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using Days = std::chrono::duration<std::int64_t, std::ratio<86400>>;

std::string why(const LeaseOptions& options) { return why_invalid(options); }

TEST(Trust, TheDefaultMarginIsATenthAndAThousandth) {
  EXPECT_EQ(default_margin(10s), 1s + 10ms);
  EXPECT_EQ(default_margin(30s), 2s + 30ms);
  EXPECT_EQ(default_margin(100ms), 10100us);
  EXPECT_EQ(margin_of({.ttl = 30s}, 10s), 1010ms);
  EXPECT_EQ(margin_of({.ttl = 30s, .safety_margin = 3s}, 10s), 3s);
}

TEST(Trust, CountsFromTheSending) { EXPECT_EQ(trusted_until(Instant{5s}, 30s, 2s), Instant{33s}); }

TEST(Trust, RenewsAndBeatsInTime) {
  EXPECT_EQ(renew_interval(30s), 10s);
  EXPECT_EQ(renew_interval(3s), 1s);
  EXPECT_EQ(renew_interval(1h), 10s);
  EXPECT_EQ(liveness_of(30s), 5s);
  EXPECT_EQ(liveness_of(300ms), 300ms);
}

TEST(LeaseOptionsCheck, TheDefaultsAreUsable) { EXPECT_EQ(why({}), ""); }

// C09, the library's part: each value is refused with a clear line, or kept.
TEST(LeaseOptionsCheck, C09_Ttl) {
  for (const Duration ttl :
       {Duration{0}, Duration{-1ms}, Duration{-1s}, Duration{1ns}, Duration{999us}, Duration{1ms},
        Duration{100ms - 1ns}, Duration::max(), Duration::min(), Duration{ttl_max + 1ns}}) {
    const std::string message = why({.ttl = ttl});
    EXPECT_NE(message.find("ttl"), std::string::npos) << ttl.count();
    EXPECT_NE(message.find("at least 100ms"), std::string::npos) << message;
  }
  for (const Duration ttl :
       {Duration{100ms}, Duration{100ms + 1ns}, Duration{1500ms},
        Duration{std::chrono::milliseconds{INT64_C(1) << 31}}, Duration{Days{30}}, ttl_max}) {
    EXPECT_EQ(why({.ttl = ttl}), "") << ttl.count();
  }
}

TEST(LeaseOptionsCheck, C09_HoldTimes) {
  for (const Duration time : {Duration{0}, Duration{-1s}, Duration::max(), Duration::min()}) {
    EXPECT_NE(why({.max_hold = time}), "");
    EXPECT_NE(why({.min_hold = time}), "");
  }
  EXPECT_NE(why({.lock_delay = Duration{-1ns}}), "");
  EXPECT_NE(why({.lock_delay = Duration::max()}), "");
  EXPECT_EQ(why({.lock_delay = 0s}), "");
  EXPECT_EQ(why({.max_hold = 1h, .min_hold = 1ns, .lock_delay = 10s}), "");
}

TEST(LeaseOptionsCheck, TheMarginLeavesTrust) {
  EXPECT_NE(why({.ttl = 10s, .safety_margin = 5s}), "");
  EXPECT_NE(why({.ttl = 10s, .safety_margin = Duration{-1ns}}), "");
  EXPECT_NE(why({.ttl = 10s, .safety_margin = Duration::max()}), "");
  EXPECT_EQ(why({.ttl = 10s, .safety_margin = 5s - 1ns}), "");
  EXPECT_EQ(why({.ttl = 10s, .safety_margin = 0s}), "");
}

TEST(LeaseOptionsCheck, TimesThatContradictEachOther) {
  EXPECT_NE(why({.max_hold = 10s, .min_hold = 11s}), "");
  EXPECT_EQ(why({.max_hold = 10s, .min_hold = 10s}), "");
  EXPECT_NE(why({.ttl = 30s, .max_hold = 4s}), "") << "twice the margin is no time to work";
  EXPECT_EQ(why({.ttl = 30s, .max_hold = 5s}), "");
}

TEST(LeaseOptionsCheck, ANoteIsPlainText) {
  EXPECT_EQ(why({.note = std::string(200, 'x')}), "");
  EXPECT_EQ(why({.note = "n\xc3\xa4"
                         "chtlich"}),
            "");
  EXPECT_NE(why({.note = std::string(201, 'x')}), "");
  EXPECT_NE(why({.note = "two\nlines"}), "");
  EXPECT_NE(why({.note = "\xff"}), "");
  EXPECT_NE(why({.note = "\xc2\x85"}), "") << "a control character of two bytes";
}

}  // namespace
}  // namespace holdfast

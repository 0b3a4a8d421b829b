#include "store/redis/keys.hpp"

#include <holdfast/claim.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace holdfast::redis {
namespace {

using Kind = RedisKeys::Kind;

const std::vector<Kind> all_kinds{Kind::fence,   Kind::record, Kind::queue, Kind::beats,
                                  Kind::waiters, Kind::ends,   Kind::order};
// Run ids are any bytes.
const std::vector<std::string> awkward_runs{"2026-11-30", "", "{x}", "}",
                                            "a\x1f"
                                            "fence\x1flock:a"};
const std::vector<std::string> awkward_names{
    "a",    "a/b", "/a",       "a/",    "//",       ".",       "..",
    "a b",  "a ",  "\xc3\xa4", "%2F",   "*",        "?",       "[a",
    "a]",   "^",   "\\",       "__",    "lock:",    "lock:a",  "a:fence",
    "{x}y", "A",   "-",        "a{b}c", "a{b}c{d}", "'; DROP", std::string(255, 'n')};

TEST(RedisKeys, LockIsPrefixAndName) {
  EXPECT_EQ(RedisKeys{"lock:"}.lock("payout"), "lock:payout");
}

TEST(RedisKeys, HelperNamesItsLockAndKind) {
  EXPECT_EQ(RedisKeys{"lock:"}.helper(Kind::fence, "payout"),
            "lock:{lock:payout}\x1f"
            "fence\x1f"
            "lock:payout");
  EXPECT_EQ(RedisKeys{"p:"}.helper(Kind::queue, "a{b}c"),
            "p:{b}\x1f"
            "queue\x1fp:a{b}c");
}

TEST(RedisKeys, HashTagIsTheFirstClosedNonEmptyBraces) {
  EXPECT_EQ(hash_tag("plain"), "plain");
  EXPECT_EQ(hash_tag("a{b}c{d}"), "b");
  EXPECT_EQ(hash_tag("a{}c{d}"), "a{}c{d}");
  EXPECT_EQ(hash_tag("a{b"), "a{b");
}

TEST(C44, HelpersLieUnderThePrefixAndInTheSlotOfTheirLock) {
  for (const char* prefix : {"lock:", "", "{app}:", "a{b}"}) {
    const RedisKeys keys{prefix};
    for (const std::string& name : awkward_names) {
      ASSERT_TRUE(valid_name(name)) << name;
      for (const Kind kind : all_kinds) {
        const std::string helper = keys.helper(kind, name);
        EXPECT_TRUE(helper.starts_with(prefix)) << helper;
        EXPECT_EQ(hash_tag(helper), hash_tag(keys.lock(name))) << helper;
      }
      EXPECT_EQ(hash_tag(keys.tombstone(name, OwnerId{})), hash_tag(keys.lock(name)));
      for (const std::string& run : awkward_runs) {
        EXPECT_EQ(hash_tag(keys.done_mark(name, run)), hash_tag(keys.lock(name)));
        EXPECT_FALSE(keys.recognise(keys.done_mark(name, run)));
      }
    }
  }
}

TEST(C44, NoTwoKeysOfAnyNamesAreEqual) {
  for (const char* prefix : {"lock:", ""}) {
    const RedisKeys keys{prefix};
    std::set<std::string> seen;
    for (const std::string& name : awkward_names) {
      EXPECT_TRUE(seen.insert(keys.lock(name)).second) << name;
      for (const Kind kind : all_kinds) {
        EXPECT_TRUE(seen.insert(keys.helper(kind, name)).second) << name;
      }
      EXPECT_TRUE(seen.insert(keys.tombstone(name, OwnerId{})).second) << name;
      for (const std::string& run : awkward_runs) {
        EXPECT_TRUE(seen.insert(keys.done_mark(name, run)).second) << name << " " << run;
      }
    }
  }
}

TEST(C44, ScanResultsBecomeTheOriginalNames) {
  const RedisKeys keys{"lock:"};
  for (const std::string& name : awkward_names) {
    const auto lock = keys.recognise(keys.lock(name));
    ASSERT_TRUE(lock) << name;
    EXPECT_EQ(lock->name, name);
    EXPECT_FALSE(lock->is_queue);
    const auto queue = keys.recognise(keys.helper(Kind::queue, name));
    ASSERT_TRUE(queue) << name;
    EXPECT_EQ(queue->name, name);
    EXPECT_TRUE(queue->is_queue);
    EXPECT_FALSE(keys.recognise(keys.helper(Kind::fence, name)));
    EXPECT_FALSE(keys.recognise(keys.tombstone(name, OwnerId{})));
  }
}

TEST(RedisKeys, ForeignKeysAreNotRecognised) {
  const RedisKeys keys{"lock:"};
  for (const char* key : {"", "other", "lock:", "lock:{}", "lock:a}b", "lock:\xff",
                          "lock:\x1fwake\x1f", "lock:{x}\x1fqueue\x1f"}) {
    EXPECT_FALSE(keys.recognise(key)) << key;
  }
}

TEST(RedisKeys, GlobCharactersOfThePrefixAreEscaped) {
  EXPECT_EQ(RedisKeys{"a*b?[c]\\:"}.scan_pattern(), "a\\*b\\?\\[c\\]\\\\:*");
}

TEST(RedisKeys, PrefixesFollowTheRuleOfNames) {
  EXPECT_EQ(why_invalid_prefix(""), "");
  EXPECT_EQ(why_invalid_prefix("app:lock:"), "");
  EXPECT_EQ(why_invalid_prefix("{app}:"), "");
  EXPECT_NE(why_invalid_prefix("{app:"), "");
  EXPECT_NE(why_invalid_prefix("a\x1f"), "");
  EXPECT_NE(why_invalid_prefix("\xff"), "");
  EXPECT_NE(why_invalid_prefix(std::string(129, 'p')), "");
}

}  // namespace
}  // namespace holdfast::redis

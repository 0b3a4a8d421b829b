// Names, lists, and what people see.
#include "tests/conformance/store_test.hpp"

#include <algorithm>
#include <set>

namespace holdfast::conformance {
namespace {

class StorePeople : public StoreTest {
 protected:
  std::set<std::string> listed(const std::string& prefix) {
    std::set<std::string> names;
    for (const NameView& view : store().list_all(prefix)) {
      names.insert(view.name);
    }
    return names;
  }
};
HOLDFAST_ON_EVERY_STORE(StorePeople);

TEST_P(StorePeople, InspectOfANameThatNobodyUsed) {
  const NameView view = store().inspect("job");
  EXPECT_EQ(view.name, "job");
  EXPECT_TRUE(view.holders.empty());
  EXPECT_TRUE(view.waiters.empty());
}

TEST_P(StorePeople, InspectShowsHolderWaitersAndFence) {
  const Claim a = claim();
  const Fence fence = store().grant(a).fence;
  const Claim b = claim();
  store().queue(b);
  pass(30ms);
  const NameView view = store().inspect("job");
  ASSERT_EQ(view.holders.size(), 1U);
  EXPECT_EQ(view.holders[0].owner, a.owner);
  EXPECT_EQ(view.holders[0].who, a.who);
  EXPECT_EQ(view.holders[0].fence, fence);
  EXPECT_GE(view.holders[0].held_for, 25ms);
  EXPECT_EQ(view.last_fence, fence);
  ASSERT_EQ(view.waiters.size(), 1U);
  EXPECT_EQ(view.waiters[0].owner, b.owner);
}

TEST_P(StorePeople, WhoIsKeptAsItIs) {
  Claim a = claim();
  a.who = {"hôst \\\" '%s\x1f", 4194304, "\xf0\x9f\x92\xb0 | note; with\ttabs"};
  store().grant(a);
  Claim b = claim();
  b.who = a.who;
  store().queue(b);
  const NameView view = store().inspect("job");
  EXPECT_EQ(view.holders.at(0).who.pid, a.who.pid);
  EXPECT_EQ(view.waiters.at(0).who.pid, a.who.pid);
  EXPECT_TRUE(view.holders.at(0).who.note.starts_with("\xf0\x9f\x92\xb0 | note; with"));
}

TEST_P(StorePeople, ListsAThousandNamesOnce) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "n/" + std::to_string(i);
    store().grant(claim(name));
    names.insert(name);
  }
  store().grant(claim("other"));
  EXPECT_EQ(listed("n/"), names);
  EXPECT_EQ(listed("").size(), 1001U);
  EXPECT_EQ(listed("n/99"),
            (std::set<std::string>{"n/99", "n/990", "n/991", "n/992", "n/993", "n/994", "n/995",
                                   "n/996", "n/997", "n/998", "n/999"}));
  EXPECT_TRUE(listed("nobody").empty());
}

TEST_P(StorePeople, ListsHeldAndWaitedForOnly) {
  const Claim released = claim("released");
  store().grant(released);
  store().release(released);
  store().grant(claim("expired", 100ms));
  store().grant(claim("held"));
  store().grant(claim("waited", 100ms));
  const Claim waiting = claim("waited");
  store().queue(waiting);
  pass(150ms);
  EXPECT_EQ(listed(""), (std::set<std::string>{"held", "waited"}));
}

TEST_P(StorePeople, APrefixIsNoPattern) {
  for (const char* name : {"a*b", "a%b", "a_b", "a?b", "a[x]b", "a\\b", "axb", "A*b"}) {
    store().grant(claim(name));
  }
  EXPECT_EQ(listed("a*"), std::set<std::string>{"a*b"});
  EXPECT_EQ(listed("a%"), std::set<std::string>{"a%b"});
  EXPECT_EQ(listed("a_"), std::set<std::string>{"a_b"});
  EXPECT_EQ(listed("a?"), std::set<std::string>{"a?b"});
  EXPECT_EQ(listed("a[x]"), std::set<std::string>{"a[x]b"});
  EXPECT_EQ(listed("a\\"), std::set<std::string>{"a\\b"});
}

TEST_P(StorePeople, DiagnoseAnswers) {
  auto findings = std::make_shared<std::optional<std::vector<Finding>>>();
  store().store().diagnose([findings](std::vector<Finding> found) { *findings = found; });
  place().lane().run_until([findings] { return findings->has_value(); });
  for (const Finding& finding : **findings) {
    EXPECT_NE(finding.level, Finding::Level::failure) << finding.what;
    EXPECT_FALSE(finding.what.empty());
  }
}

class C44Names : public StorePeople {};
HOLDFAST_ON_EVERY_STORE(C44Names);

std::vector<std::string> awkward_names() {
  std::vector<std::string> names{"a",
                                 "b",
                                 "A",
                                 "a ",
                                 "a/b",
                                 "a/b/c",
                                 "/a",
                                 "a/",
                                 "//",
                                 ".",
                                 "..",
                                 "a b",
                                 "\xc3\xa4",
                                 "a\xcc\x88",
                                 "\xf0\x9f\x94\x92",
                                 "%2F",
                                 "{x}y",
                                 "a{b}c{d}",
                                 "{x}",
                                 "x{x}",
                                 "*",
                                 "?",
                                 "[a]",
                                 "\\",
                                 "'; DROP",
                                 "'; DROP TABLE names; --",
                                 "\"",
                                 "__",
                                 "a__b",
                                 "a:lock",
                                 "a:fence",
                                 "fence",
                                 "queue",
                                 "a:queue",
                                 "lock:a",
                                 "a,b",
                                 "a|b",
                                 "-",
                                 "--",
                                 "0",
                                 "null",
                                 "NULL",
                                 "sqlite_",
                                 "%s%n",
                                 "$1"};
  names.push_back(std::string(name_size_max, 'x'));
  names.push_back(std::string(name_size_max - 1, 'x') + "y");
  return names;
}

TEST_P(C44Names, DistinctNamesNeverExcludeEachOther) {
  for (const std::string& name : awkward_names()) {
    ASSERT_TRUE(valid_name(name)) << name;
    ASSERT_TRUE(std::holds_alternative<Granted>(store().acquire(claim(name)))) << name;
  }
  for (const std::string& name : awkward_names()) {
    ASSERT_TRUE(std::holds_alternative<Busy>(second().acquire(claim(name)))) << name;
  }
  const auto names = awkward_names();
  EXPECT_EQ(listed(""), std::set<std::string>(names.begin(), names.end()));
  for (const std::string& name : names) {
    EXPECT_TRUE(listed(name).contains(name)) << name;
  }
}

TEST_P(C44Names, EveryNameWorksInEveryVerb) {
  for (const std::string& name : awkward_names()) {
    SCOPED_TRACE(name);
    const Claim a = claim(name);
    const Claim b = claim(name);
    const Fence fence = store().grant(a).fence;
    EXPECT_TRUE(is_renewed(store().renew(a)));
    store().queue(b);
    EXPECT_EQ(store().inspect(name).name, name);
    EXPECT_EQ(waiters(name), std::vector{b.owner});
    store().release(a);
    EXPECT_GT(store().await_hand_off(b.owner).fence, fence);
    EXPECT_EQ(store().break_name(name).holders.size(), 1U);
    store().release(b, {.keep_min_hold = true, .tombstone = true});
    store().busy(b);
    EXPECT_FALSE(holder(name));
  }
}

}  // namespace
}  // namespace holdfast::conformance

// What every guard must answer, whatever it stores in. The storages are in *_ledger_test.cpp.
#include "tests/conformance/guarded_ledger.hpp"
#include "tests/support/required.hpp"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <limits>
#include <map>
#include <random>

namespace holdfast::guard_tests {

using testing::ElementsAre;

void GuardTest::SetUp() {
  const StorageKind& kind = GetParam();
  HOLDFAST_NEEDS(kind.name, kind.why_not.empty(), kind.why_not);
  storage = kind.make();
  ledger = storage->open();
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(C39);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(C39Stops);

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t exact_doubles_end = std::int64_t{1} << 53;

TEST_P(C39, OneHolderWritesOftenAStaleOneNever) {
  EXPECT_FALSE(append(10));
  EXPECT_FALSE(append(10)) << "equal passes";
  EXPECT_FALSE(append(11));
  EXPECT_EQ(append(10), errc::stale_fence);
  EXPECT_THAT(ledger->rows("ledger"), ElementsAre(10, 10, 11));
}

// Form 1: B has only registered its fence.
TEST_P(C39, ARegisteredFenceShutsPredecessorsOut) {
  EXPECT_FALSE(append(10));
  EXPECT_FALSE(ledger->admit(stamp(11), "ledger"));
  EXPECT_EQ(append(10), errc::stale_fence);
  EXPECT_THAT(ledger->rows("ledger"), ElementsAre(10));
}

// Form 3.
TEST_P(C39, ABatchIsAllOrNothing) {
  EXPECT_FALSE(append(10, "ledger", 3));
  EXPECT_FALSE(append(12));
  EXPECT_EQ(append(11, "ledger", 3), errc::stale_fence);
  EXPECT_THAT(ledger->rows("ledger"), ElementsAre(10, 10, 10, 12));
}

// Form 4.
TEST_P(C39Stops, TheMarkSurvivesARestart) {
  EXPECT_FALSE(append(10));
  ledger.reset();
  storage->restart();
  ledger = storage->open();
  EXPECT_EQ(append(9), errc::stale_fence);
  EXPECT_FALSE(append(10));
  EXPECT_THAT(ledger->rows("ledger"), ElementsAre(10, 10));
}

// Form 5.
TEST_P(C39, TwoResourcesUnderOneLockAreIndependent) {
  EXPECT_FALSE(append(10, "ledger"));
  EXPECT_FALSE(append(9, "journal"));
  EXPECT_EQ(append(9, "ledger"), errc::stale_fence);
  EXPECT_FALSE(append(9, "journal"));
}

// Form 6.
TEST_P(C39, WhatIsNoFenceOfThisLockIsRefused) {
  for (const std::int64_t fence : {std::int64_t{0}, std::int64_t{-1}, -most, -most - 1}) {
    EXPECT_EQ(append(fence), errc::invalid_options) << fence;
  }
  EXPECT_EQ(ledger->append(stamp(5, 0, ""), "ledger", 1), errc::invalid_options) << "no name";
  EXPECT_EQ(ledger->append(stamp(5, 6), "ledger", 1), errc::invalid_options) << "floor > fence";
  EXPECT_EQ(ledger->append(stamp(5, -1), "ledger", 1), errc::invalid_options);
  EXPECT_FALSE(append(1)) << "nothing of the above left a mark";
  EXPECT_EQ(ledger->append(stamp(7, 0, "another"), "ledger", 1), errc::invalid_options);
  EXPECT_EQ(ledger->append(stamp(1, 0, "another"), "ledger", 1), errc::invalid_options);
  EXPECT_THAT(ledger->rows("ledger"), ElementsAre(1));
}

TEST_P(C39, TheFloorLetsLiveHoldersPassOneAnother) {
  EXPECT_FALSE(ledger->append(stamp(12, 10), "ledger", 1));
  EXPECT_FALSE(ledger->append(stamp(11, 10), "ledger", 1));
  EXPECT_FALSE(ledger->append(stamp(10, 10), "ledger", 1));
  EXPECT_EQ(ledger->append(stamp(9, 9), "ledger", 1), errc::stale_fence);
  EXPECT_FALSE(append(13)) << "a writer, alone";
  EXPECT_EQ(ledger->append(stamp(12, 10), "ledger", 1), errc::stale_fence);
  EXPECT_FALSE(ledger->append(stamp(15, 14), "ledger", 1));
  EXPECT_EQ(append(13), errc::stale_fence);
}

TEST_P(C39, ALowerFloorNeverLowersTheMark) {
  EXPECT_FALSE(append(10));
  EXPECT_FALSE(ledger->append(stamp(12, 3), "ledger", 1));
  EXPECT_EQ(append(9), errc::stale_fence);
  EXPECT_FALSE(append(10));
}

TEST_P(C39, AllSixtyFourBitsCount) {
  for (const std::int64_t fence : {std::int64_t{9}, std::int64_t{10}, std::int64_t{99},
                                   std::int64_t{100}, exact_doubles_end - 1, exact_doubles_end,
                                   exact_doubles_end + 1, exact_doubles_end + 2, most - 1, most}) {
    EXPECT_FALSE(append(fence)) << fence;
    EXPECT_EQ(append(fence - 1), errc::stale_fence) << fence;
  }
  EXPECT_EQ(ledger->rows("ledger").back(), most);
}

TEST_P(C39, AnyTextIsAResource) {
  const std::vector<std::string> odd = {
      "a b",    "a/b",    "ä",   "'; DROP TABLE ledger", "%s", "a:b", "a\nb",
      "{tag}x", "x{tag}", "a{b", std::string(300, 'x')};
  for (const std::string& resource : odd) {
    EXPECT_FALSE(append(5, resource)) << resource;
  }
  for (const std::string& resource : odd) {
    EXPECT_EQ(append(4, resource), errc::stale_fence) << resource;
    EXPECT_THAT(ledger->rows(resource), ElementsAre(5)) << resource;
  }
}

TEST_P(C39, TwoConnectionsShareTheMark) {
  const auto other = storage->open();
  EXPECT_FALSE(append(10));
  EXPECT_EQ(other->append(stamp(9), "ledger", 1), errc::stale_fence);
  EXPECT_FALSE(other->append(stamp(11), "ledger", 1));
  EXPECT_EQ(append(10), errc::stale_fence);
}

// Random writers against MemoryGuard, which is the model: the same answer to every write, and
// exactly the rows of those that were admitted.
TEST_P(C39, AnswersAsTheModelDoes) {
  int turn = 0;
  EXPECT_TRUE(rc::check("guard", [&] {
    ++turn;
    MemoryGuard model;
    std::map<std::string, std::vector<std::int64_t>> expected;
    const auto writes = *rc::gen::inRange(1, 25);
    const bool great = *rc::gen::arbitrary<bool>();
    for (int i = 0; i < writes; ++i) {
      const std::int64_t base = great ? *rc::gen::element(exact_doubles_end, most - 12) : 0;
      const std::string resource = std::to_string(turn) + *rc::gen::element<std::string>("a", "b");
      const std::string name =
          *rc::gen::weightedElement<std::string>({{9, "n"}, {1, "m"}, {1, ""}});
      const std::int64_t fence = base + *rc::gen::inRange(-1, 12);
      const std::int64_t floor = *rc::gen::weightedOneOf<std::int64_t>(
          {{2, rc::gen::just(std::int64_t{0})}, {1, rc::gen::inRange(fence - 4, fence + 2)}});
      const int rows = *rc::gen::inRange(0, 3);  // 0: only admit
      std::error_code wanted;
      model.admit(resource, name, Fence{fence}, Fence{floor}, wanted);
      const Stamp by = stamp(fence, floor, name);
      const std::error_code got =
          rows == 0 ? ledger->admit(by, resource) : ledger->append(by, resource, rows);
      RC_ASSERT(got == wanted);
      if (!wanted) {
        expected[resource].insert(expected[resource].end(), static_cast<std::size_t>(rows), fence);
      }
    }
    for (const auto& [resource, rows] : expected) {
      RC_ASSERT(ledger->rows(resource) == rows);
    }
  }));
}

}  // namespace

}  // namespace holdfast::guard_tests

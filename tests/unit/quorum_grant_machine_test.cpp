#include "store/redlock/grant_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::redlock {
namespace {

using std::chrono::milliseconds;
using Word = Locked::Word;

constexpr Instant start{std::chrono::hours{1}};
constexpr Fence fence(std::int64_t number) { return static_cast<Fence>(number); }

class QuorumGrantMachine : public testing::Test {
 protected:
  GrantMachine::Actions lock(std::size_t node, Locked answer, milliseconds at = milliseconds{1}) {
    GrantMachine::Actions actions;
    machine.locked(node, answer, start + at, actions);
    return actions;
  }
  GrantMachine::Actions raise(std::size_t node, bool noted, milliseconds at = milliseconds{2}) {
    GrantMachine::Actions actions;
    machine.raised(node, noted, start + at, actions);
    return actions;
  }
  GrantMachine::Actions time(milliseconds at) {
    GrantMachine::Actions actions;
    machine.time_is(start + at, actions);
    return actions;
  }
  template <class Kind>
  static std::size_t count(const GrantMachine::Actions& actions) {
    return static_cast<std::size_t>(std::ranges::count_if(
        actions, [](const auto& action) { return std::holds_alternative<Kind>(action); }));
  }
  GrantMachine::Actions quorum_locks() {
    lock(0, {Word::ours, fence(7), {}});
    lock(1, {Word::ours, fence(9), {}});
    return lock(2, {Word::ours, fence(8), {}});
  }

  GrantMachine machine{5, {milliseconds{1000}, milliseconds{200}}, start};
};

TEST_F(QuorumGrantMachine, RaisesAboveTheGreatestOfAQuorumAndWinsWithoutTheOthers) {
  const auto raises = quorum_locks();
  ASSERT_EQ(count<GrantMachine::Raise>(raises), 3U);
  EXPECT_EQ(std::get<GrantMachine::Raise>(raises[0]).fence, fence(10));
  EXPECT_TRUE(raise(0, true).empty());
  EXPECT_TRUE(raise(1, true).empty());
  const auto won = raise(2, true);
  ASSERT_EQ(count<GrantMachine::Won>(won), 1U);
  EXPECT_EQ(std::get<GrantMachine::Won>(won[0]).fence, fence(10));
  EXPECT_FALSE(machine.wake());
  EXPECT_TRUE(lock(3, {Word::ours, fence(50), {}}).empty());  // and this one is not undone
}

TEST_F(QuorumGrantMachine, ANodeThatLocksAfterTheFenceWasChosenIsNeverRaised) {
  quorum_locks();
  EXPECT_TRUE(lock(4, {Word::ours, fence(3), {}}).empty());
  EXPECT_TRUE(raise(4, true).empty());
  raise(1, true);
  raise(2, true);
  const auto lost = raise(0, false);
  EXPECT_EQ(count<GrantMachine::Undo>(lost), 5U);
  EXPECT_TRUE(std::get<GrantMachine::Lost>(lost.back()).held);
}

TEST_F(QuorumGrantMachine, AskedAgainAsTheHolderKeepsItsFence) {
  lock(0, {Word::ours, fence(10), fence(10)});
  lock(1, {Word::ours, fence(10), fence(10)});
  const auto raises = lock(2, {Word::ours, fence(10), fence(10)});
  EXPECT_EQ(std::get<GrantMachine::Raise>(raises[0]).fence, fence(10));
}

TEST_F(QuorumGrantMachine, LosesAsSoonAsNoQuorumIsLeftAndUndoesEverywhere) {
  lock(0, {Word::ours, fence(1), {}});
  lock(1, {Word::held, {}, {}});
  lock(2, {Word::held, {}, {}});
  const auto lost = lock(3, {Word::unmarked, {}, {}});
  EXPECT_EQ(count<GrantMachine::Undo>(lost), 5U);
  EXPECT_TRUE(std::get<GrantMachine::Lost>(lost.back()).held);
  EXPECT_EQ(count<GrantMachine::Undo>(lock(4, {Word::ours, fence(1), {}})), 1U);
}

TEST_F(QuorumGrantMachine, UnmarkedAndSilentNodesAreNotHeldNodes) {
  for (const std::size_t node : {std::size_t{0}, std::size_t{1}}) {
    lock(node, {Word::unmarked, {}, {}});
  }
  EXPECT_EQ(machine.wake(), start + milliseconds{200});
  EXPECT_TRUE(time(milliseconds{199}).empty());
  const auto lost = time(milliseconds{200});
  EXPECT_EQ(count<GrantMachine::Undo>(lost), 5U);
  EXPECT_FALSE(std::get<GrantMachine::Lost>(lost.back()).held);
  EXPECT_TRUE(time(milliseconds{300}).empty());
}

TEST_F(QuorumGrantMachine, NeverGrantsWhatIsOverAlready) {
  quorum_locks();
  raise(0, true);
  raise(1, true);
  const auto late = raise(2, true, milliseconds{1000});
  EXPECT_EQ(count<GrantMachine::Won>(late), 0U);
  EXPECT_EQ(count<GrantMachine::Lost>(late), 1U);
}

TEST_F(QuorumGrantMachine, AnswersThatComeTwiceCountOnce) {
  lock(0, {Word::ours, fence(7), {}});
  lock(0, {Word::ours, fence(7), {}});
  EXPECT_TRUE(lock(0, {Word::ours, fence(7), {}}).empty());
  lock(1, {Word::ours, fence(7), {}});
  EXPECT_EQ(count<GrantMachine::Raise>(lock(2, {Word::ours, fence(7), {}})), 3U);
  raise(0, true);
  raise(0, true);
  EXPECT_TRUE(raise(0, true).empty());
}

}  // namespace
}  // namespace holdfast::redlock

#include "runtime/timer_queue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <vector>

namespace holdfast {
namespace {

Instant at(std::int64_t ns) { return Instant{Duration{ns}}; }

TEST(TimerQueue, PopsInOrderOfInstantsThenOfInsertion) {
  TimerQueue queue;
  std::vector<int> ran;
  queue.insert(at(20), [&] { ran.push_back(3); });
  queue.insert(at(10), [&] { ran.push_back(1); });
  queue.insert(at(10), [&] { ran.push_back(2); });
  EXPECT_EQ(queue.earliest(), at(10));
  EXPECT_FALSE(queue.pop_due(at(9)));
  while (auto callback = queue.pop_due(at(20))) callback();
  EXPECT_EQ(ran, (std::vector{1, 2, 3}));
  EXPECT_EQ(queue.earliest(), Instant::max());
}

TEST(TimerQueue, ErasedTimersLeaveNothingAndIdsAreNotReused) {
  TimerQueue queue;
  const auto witness = std::make_shared<int>(0);
  const TimerQueue::Id first = queue.insert(at(1), [witness] {});
  EXPECT_NE(first, 0U);
  EXPECT_EQ(witness.use_count(), 2);
  EXPECT_TRUE(queue.erase(first));
  EXPECT_EQ(witness.use_count(), 1);
  const TimerQueue::Id second = queue.insert(at(1), [] {});
  EXPECT_NE(first, second);
  EXPECT_FALSE(queue.erase(first)) << "the slot is the same, the timer is not";
  EXPECT_FALSE(queue.erase(0));
  EXPECT_EQ(queue.size(), 1U);
}

TEST(TimerQueue, AgreesWithASortedSet) {
  TimerQueue queue;
  std::set<std::pair<Instant, TimerQueue::Id>> model;
  std::mt19937 random(7);
  TimerQueue::Id ran = 0;
  for (int step = 0; step < 20000; ++step) {
    const auto choice = random() % 3;
    if (choice == 0 || model.size() < 4) {
      const Instant when = at(static_cast<std::int64_t>(random() % 50));
      const auto id = std::make_shared<TimerQueue::Id>();
      *id = queue.insert(when, [&ran, id] { ran = *id; });
      model.emplace(when, *id);
    } else if (choice == 1) {
      const auto victim = std::next(model.begin(), static_cast<long>(random() % model.size()));
      EXPECT_TRUE(queue.erase(victim->second));
      model.erase(victim);
    } else {
      auto callback = queue.pop_due(at(25));
      ASSERT_EQ(static_cast<bool>(callback), model.begin()->first <= at(25));
      if (!callback) continue;
      callback();
      ASSERT_EQ(ran, model.begin()->second);
      model.erase(model.begin());
    }
    ASSERT_EQ(queue.size(), model.size());
    ASSERT_EQ(queue.earliest(), model.empty() ? Instant::max() : model.begin()->first);
  }
}

}  // namespace
}  // namespace holdfast

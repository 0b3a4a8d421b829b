// The parts that worlds are made of: time, clocks, runtimes, links.
#include "sim/world.hpp"
#include "sim/clock.hpp"
#include "sim/network.hpp"
#include "sim/runtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

TEST(World, RunsEqualInstantsInTheOrderOfPlanning) {
  World world{1};
  std::string order;
  world.after(2ms, [&] { order += 'c'; });
  world.after(1ms, [&] { order += 'a'; });
  world.after(1ms, [&] { order += 'b'; });
  world.run_until(world.now() + 1s);
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(world.now().time_since_epoch(), 1s);
}

TEST(Clock, GainsAndLosesByItsDrift) {
  World world{1};
  SimClock fast{world, Instant{1h}, 1000};  // one in a thousand
  SimClock slow{world, Instant{1h}, -1000};
  world.run_until(world.now() + 1000s);
  EXPECT_EQ(fast.now(), Instant{1h + 1001s});
  EXPECT_EQ(slow.now(), Instant{1h + 999s});
}

TEST(Clock, FindsTheFirstTrueInstantOfWhatItWillShow) {
  World world{1};
  for (const std::int64_t drift : {-40'000, -7, 0, 3, 25'000}) {
    SimClock clock{world, Instant{5s}, drift};
    for (const Duration ahead : {Duration{1}, Duration{999}, Duration{1s}, Duration{1h}}) {
      const Instant shown = clock.now() + ahead;
      const WorldTime when = clock.when(shown);
      EXPECT_GE(clock.at(when), shown);
      EXPECT_LT(clock.at(when - Duration{2}), shown);
    }
  }
  EXPECT_EQ((SimClock{world, Instant{5s}, 0}.when(Instant::max())), WorldTime::max());
}

TEST(Clock, GoesOnFromWhereItJumpedTo) {
  World world{1};
  SimClock clock{world, Instant{0s}, 0};
  world.run_until(world.now() + 1s);
  clock.jump(10s);
  clock.set_drift(100'000);
  world.run_until(world.now() + 1s);
  EXPECT_EQ(clock.now(), Instant{12s + 100ms});
}

struct OneNode : testing::Test {
  World world{1};
  SimClock clock{world, Instant{1h}, 0};
  std::unique_ptr<SimRuntime> runtime = std::make_unique<SimRuntime>(world, clock, 0ms);
  std::string order{};

  void run_for(Duration time) { world.run_until(world.now() + time); }
};

using RuntimeTest = OneNode;

TEST_F(RuntimeTest, FiresTimersInOrderAndNotTheCancelled) {
  runtime->call_at(runtime->now() + 2s, [&] { order += 'b'; });
  runtime->call_at(runtime->now() + 1s, [&] { order += 'a'; });
  const auto never = runtime->call_at(runtime->now() + 1s, [&] { order += 'x'; });
  runtime->cancel(never);
  runtime->call_at(Instant{}, [&] { order += '0'; });
  EXPECT_EQ(order, "");
  run_for(1h);
  EXPECT_EQ(order, "0ab");
}

TEST_F(RuntimeTest, APausedNodeRunsEverythingWhenItComesBack) {
  runtime->call_at(runtime->now() + 1s, [&] { order += 't'; });
  runtime->pause();
  runtime->post([&] { order += 'p'; });
  run_for(5s);
  EXPECT_EQ(order, "");
  runtime->resume();
  run_for(0s);
  EXPECT_EQ(order.size(), 2U);
}

TEST_F(RuntimeTest, ACrashTakesEverythingWithIt) {
  runtime->call_at(runtime->now() + 1s, [&] { order += 'x'; });
  runtime->post([&] { order += 'x'; });
  runtime.reset();
  run_for(5s);
  EXPECT_EQ(order, "");
}

TEST_F(RuntimeTest, AJumpMakesTimersDue) {
  runtime->call_at(runtime->now() + 1h, [&] { order += 'j'; });
  run_for(1s);
  clock.jump(2h);
  runtime->clock_changed();
  run_for(0s);
  EXPECT_EQ(order, "j");
}

TEST_F(RuntimeTest, APostThatIsPutOffStillComesBeforeLaterOnes) {
  runtime->post_by(Instant::max(), [&] { order += 'a'; });
  run_for(1h);
  EXPECT_EQ(order, "");
  runtime->post([&] { order += 'b'; });
  run_for(0s);
  EXPECT_EQ(order, "ab");
}

struct NetworkTest : testing::Test {
  World world{1};
  Network network{world, {.latency_min = 1ms, .latency_max = 50ms}};
  static constexpr Place node = place_of_node(0);
  std::string order{};

  void send(char letter) {
    network.send(node, Place::store, 0, [this, letter] { order += letter; });
  }
};

TEST_F(NetworkTest, KeepsTheOrderOfALink) {
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    send(letter);
  }
  world.run_until(world.now() + 1s);
  EXPECT_EQ(order, "abcdefghijklmnopqrstuvwxyz");
}

TEST_F(NetworkTest, ACutIsOneWay) {
  network.cut(node, Place::store, true);
  send('x');
  network.send(Place::store, node, 0, [this] { order += 'b'; });
  world.run_until(world.now() + 1s);
  network.cut(node, Place::store, false);
  send('c');
  world.run_until(world.now() + 1s);
  EXPECT_EQ(order, "bc");
}

TEST_F(NetworkTest, AClogHoldsBackAndThenDelivers) {
  network.clog(node, Place::store, true);
  send('a');
  send('b');
  world.run_until(world.now() + 10s);
  EXPECT_EQ(order, "");
  network.clog(node, Place::store, false);
  send('c');
  world.run_until(world.now() + 1s);
  EXPECT_EQ(order, "abc");
}

TEST_F(NetworkTest, OnlyServersDouble) {
  network.set_options({.doubled_per_mille = 1000});
  send('a');
  network.send(Place::store, node, 0, [this] { order += 'b'; });
  world.run_until(world.now() + 1s);
  EXPECT_EQ(std::ranges::count(order, 'a'), 1);
  EXPECT_EQ(std::ranges::count(order, 'b'), 2);
}

}  // namespace
}  // namespace holdfast::sim

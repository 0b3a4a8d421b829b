// Election: one leader, seen by all; terms that rise; observers that hear the latest.
#include "tests/conformance/client_test.hpp"

#include <holdfast/election.hpp>

#include <mutex>
#include <stdexcept>
#include <thread>

namespace holdfast::conformance {
namespace {

class Elections : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    if (!HasFatalFailure() && !IsSkipped() && !client().capabilities().values) {
      GTEST_SKIP() << "this store keeps no value beside a lease";
    }
  }
};
HOLDFAST_ON_EVERY_CLIENT(Elections);

// Observes on a thread of its own until it is destroyed.
class Observing {
 public:
  explicit Observing(Client& client, const std::string& name)
      : thread_([this, &client, name](const std::stop_token& stop) {
          Election(client, name).observe(stop, [this](const std::optional<LeaderInfo>& leader) {
            const std::lock_guard lock{mutex_};
            told_.push_back(leader);
          });
        }) {}
  std::size_t count() const {
    const std::lock_guard lock{mutex_};
    return told_.size();
  }
  std::optional<LeaderInfo> last() const {
    const std::lock_guard lock{mutex_};
    return told_.empty() ? std::nullopt : told_.back();
  }

 private:
  mutable std::mutex mutex_{};
  std::vector<std::optional<LeaderInfo>> told_{};
  std::jthread thread_;
};

TEST_P(Elections, TheLeaderIsSeenByAll) {
  Election ours{client(), "boss"};
  Election theirs{other(), "boss"};
  EXPECT_FALSE(theirs.leader());
  Leadership leadership = ours.campaign("10.0.0.7:80");
  EXPECT_TRUE(leadership);
  EXPECT_EQ(theirs.leader(), (LeaderInfo{"10.0.0.7:80", leadership.term()}));
  EXPECT_EQ(leadership.term(), leadership.lease().fence());
  leadership.resign();
  EXPECT_FALSE(leadership);
  EXPECT_FALSE(theirs.leader());
}

TEST_P(Elections, TheNextInLineLeadsInALaterTerm) {
  Election ours{client(), "boss"};
  Election theirs{other(), "boss"};
  Leadership first = ours.campaign("first");
  auto waiting = std::async(std::launch::async, [&] { return theirs.campaign("second"); });
  ASSERT_TRUE(await_waiters("boss", 1));
  const Fence term = first.term();
  first.resign();
  const Leadership second = waiting.get();
  EXPECT_GT(second.term(), term);
  EXPECT_EQ(ours.leader(), (LeaderInfo{"second", second.term()}));
}

TEST_P(Elections, AWaitForLeadershipEnds) {
  const Leadership first = Election(other(), "boss").campaign("first");
  std::error_code ec;
  EXPECT_FALSE(Election(client(), "boss").campaign("second", {.timeout = 0s}, ec));
  EXPECT_EQ(ec, errc::busy);
  EXPECT_FALSE(Election(client(), "boss").campaign("second", {.timeout = 200ms}, ec));
  EXPECT_EQ(ec, errc::timed_out);
}

TEST_P(Elections, ProclaimChangesWhatIsSeenAndNothingElse) {
  Election ours{client(), "boss", {.ttl = 900ms}};
  Leadership leadership = ours.campaign("starting");
  const Fence term = leadership.term();
  leadership.proclaim("ready");
  EXPECT_EQ(ours.leader(), (LeaderInfo{"ready", term}));
  ASSERT_TRUE(recorder().await(Event::Kind::renewed, 3));
  EXPECT_EQ(ours.leader(), (LeaderInfo{"ready", term})) << "a renewal keeps it";
  std::error_code ec;
  leadership.proclaim(std::string(1025, 'x'), ec);
  EXPECT_EQ(ec, errc::invalid_options);
  leadership.resign();
  leadership.proclaim("too late", ec);
  EXPECT_EQ(ec, errc::not_owner);
}

TEST_P(Elections, WhoWasDeposedCannotProclaim) {
  Leadership leadership = Election(client(), "boss").campaign("first");
  other().break_name("boss", BreakMode::now);
  const Leadership second = Election(other(), "boss").campaign("second");
  std::error_code ec;
  leadership.proclaim("still me", ec);
  EXPECT_EQ(ec, failure::ownership_lost) << ec.message();
  EXPECT_EQ(Election(other(), "boss").leader()->value, "second");
  EXPECT_TRUE(test::eventually([&] { return leadership.lost().stop_requested(); }))
      << "and is told at once";
}

TEST_P(Elections, ObserversHearEachLeader) {
  const Observing observing{other(), "boss"};
  ASSERT_TRUE(test::eventually([&] { return observing.count() == 1; }));
  EXPECT_FALSE(observing.last()) << "nobody leads at first";
  Leadership leadership = Election(client(), "boss").campaign("first");
  ASSERT_TRUE(test::eventually([&] { return observing.count() == 2; }, 3s));
  EXPECT_EQ(observing.last()->value, "first");
  leadership.proclaim("first, ready");
  ASSERT_TRUE(test::eventually([&] { return observing.count() == 3; }, 3s));
  EXPECT_EQ(observing.last(), (LeaderInfo{"first, ready", leadership.term()}));
  leadership.resign();
  ASSERT_TRUE(test::eventually([&] { return observing.count() == 4; }, 3s));
  EXPECT_FALSE(observing.last());
}

TEST_P(Elections, ASlowObserverSkipsAndHearsTheLatest) {
  Election election{other(), "boss"};
  Leadership leadership = Election(client(), "boss").campaign("0");
  std::stop_source stop;
  std::vector<std::string> told;
  election.observe(stop.get_token(), [&](const std::optional<LeaderInfo>& leader) {
    told.push_back(leader->value);
    for (int i = 1; i <= 3 && told.size() == 1; ++i) {
      leadership.proclaim(std::to_string(i));  // while the observer is busy
    }
    if (told.size() == 2) {
      stop.request_stop();
    }
  });
  EXPECT_EQ(told, (std::vector<std::string>{"0", "3"}));
}

TEST_P(Elections, ObservingEndsAtOnceAndPassesOnWhatIsThrown) {
  Election election{client(), "boss"};
  std::stop_source stop;
  const Instant start = BootClock::now();
  election.observe(stop.get_token(), [&](const auto&) { stop.request_stop(); });
  EXPECT_LT(BootClock::now() - start, Election::observed_every);
  const auto fail = [](const auto&) { throw std::runtime_error{"enough"}; };
  EXPECT_THROW(election.observe({}, fail), std::runtime_error);
}

TEST_P(Elections, AReaderIsNoLeader) {
  if (!client().capabilities().shared) {
    GTEST_SKIP() << "there are no readers";
  }
  SharedMutex mutex{client(), "boss"};
  const Lease reader = mutex.acquire_shared();
  EXPECT_FALSE(Election(other(), "boss").leader());
}

}  // namespace
}  // namespace holdfast::conformance

// C41, for the library: a run that is done stays done although answers are lost, and one that is
// not done is never marked.
#include <holdfast/run.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/eventually.hpp"

#include <future>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C41 : public OnEveryStore {
 protected:
  void SetUp() override {
    OnEveryStore::SetUp();
    if (IsSkipped() || HasFatalFailure()) {
      return;
    }
    if (!store().connect()->capabilities().runs) {
      GTEST_SKIP() << "this store keeps no marks of runs that are done";
    }
    other_ = store().connect();
    link_ = store().link();
    client_ = link_->connect();
    // The server knows the scripts from now on: else the very first of them takes two round trips.
    const Once warm{.job = "warm", .run_id = "up"};
    run_once(*client_, warm, [](const Lease&) {});
  }
  OnceResult elsewhere() {
    return run_once(*other_, once_, [this](const Lease&) { ++runs_; }, {.timeout = 20s});
  }

  const Once once_{.job = "report", .run_id = "monday", .lease = {.ttl = 10s}};
  int runs_ = 0;
  std::unique_ptr<Client> other_{};
  std::unique_ptr<Link> link_{};
  std::unique_ptr<Client> client_{};
};
CASE_ON_NETWORKED_STORES(C41);

TEST_P(C41, TheAnswerToTheMarkIsLost) {
  std::future<void> heal;
  const auto result = run_once(*client_, once_, [&](const Lease&) {
    ++runs_;
    link_->fault(Fault::swallow);
    heal = std::async(std::launch::async, [&] {
      // The mark arrives although its answer does not.
      EXPECT_TRUE(test::eventually([&] { return other_->inspect("report").holders.empty(); }));
      EXPECT_EQ(elsewhere(), OnceResult::already_done);
      link_->fault(Fault::pass);
    });
  });
  heal.get();
  EXPECT_EQ(result, OnceResult::ran) << "asking again finds our own mark";
  EXPECT_EQ(elsewhere(), OnceResult::already_done);
  EXPECT_EQ(runs_, 1);
}

TEST_P(C41, TheMarkItselfIsLostAndSentAgain) {
  std::future<void> heal;
  const auto result = run_once(*client_, once_, [&](const Lease&) {
    ++runs_;
    link_->fault(Fault::blackhole);
    heal = std::async(std::launch::async, [&] {
      std::this_thread::sleep_for(1s);  // so long is the network gone
      link_->fault(Fault::pass);
    });
  });
  heal.get();
  EXPECT_EQ(result, OnceResult::ran);
  EXPECT_EQ(elsewhere(), OnceResult::already_done);
  EXPECT_EQ(runs_, 1);
}

TEST_P(C41, NoAnswerUntilTheLeaseIsOverSaysThatItIsNotKnown) {
  const Once brief{.job = "report", .run_id = "monday", .lease = {.ttl = 1500ms}};
  try {
    run_once(*client_, brief, [&](const Lease&) {
      ++runs_;
      link_->fault(Fault::blackhole);
    });
    ADD_FAILURE() << "nobody said that it is marked";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::outcome_unknown) << error.what();
  }
  EXPECT_EQ(elsewhere(), OnceResult::ran) << "the mark never arrived";
  EXPECT_EQ(runs_, 2);
  link_->fault(Fault::pass);
}

TEST_P(C41, WhoLostItsLeaseMarksNothing) {
  const Once brief{.job = "report", .run_id = "monday", .lease = {.ttl = 1500ms}};
  std::error_code why;
  try {
    run_once(*client_, brief, [&](const std::stop_token& stop, Fence) {
      link_->fault(Fault::blackhole);
      EXPECT_TRUE(test::eventually([&] { return stop.stop_requested(); }));
      link_->fault(Fault::pass);
    });
  } catch (const Error& error) {
    why = error.code();
  }
  EXPECT_EQ(why, errc::expired);
  EXPECT_EQ(elsewhere(), OnceResult::ran);
  EXPECT_EQ(runs_, 1);
}

}  // namespace
}  // namespace holdfast::chaos

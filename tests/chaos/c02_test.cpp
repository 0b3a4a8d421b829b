// C02: a grant arrives at the same moment as the wait's deadline or a cancel. Whoever is told that
// the wait failed must leave nothing behind; whoever is told of success must hold.
#include "tests/chaos/lock_form.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

// The names that a client renewed.
class Renewals final : public Observer {
 public:
  void on_event(const Event& event) override {
    if (event.kind == Event::Kind::renewed) {
      const std::lock_guard lock{mutex_};
      names_.insert(event.name);
    }
  }
  bool of(const std::string& name) {
    const std::lock_guard lock{mutex_};
    return names_.contains(name);
  }

 private:
  std::mutex mutex_{};
  std::set<std::string> names_{};
};

class C02 : public OnEveryForm {
 protected:
  enum class Ends : std::uint8_t { by_deadline, by_cancel };
  const int at_once_ = short_or_full(4, 8);

  struct Sums {
    int granted = 0;
    int failed = 0;
    Duration free_after_max{};  // from B's failure to C's grant
    Duration cancel_took_max{};
  };

  // A connection that is still being made answers nothing in time, which is another case (C17).
  void connect_fully(Client& client) {
    Mutex theirs{*c_, "warm", options_};
    const Lease held = theirs.acquire();
    std::vector<std::jthread> threads;
    for (int i = 0; i < at_once_; ++i) {  // as many connections as series() will use
      threads.emplace_back([&] {
        std::error_code ec;
        const Lease none = Mutex{client, "warm", options_}.acquire({.timeout = 300ms}, ec);
        EXPECT_EQ(ec, errc::timed_out);
      });
    }
  }
  // A releases at start + release_after; B's wait ends at start + release_after + offset.
  void run(const std::string& name, Ends ends, Duration offset);
  void series(const char* title, Ends ends);
  Duration answers_late_ = Duration{0};

  const LeaseOptions options_{.ttl = 60s};
  Duration release_after_ = short_or_full<Duration>(100ms, 1s);
  Renewals renewals_{};
  std::unique_ptr<Link> slow_{};
  std::unique_ptr<Client> a_{};
  std::unique_ptr<Client> b_{};
  std::unique_ptr<Client> c_{};
  std::mutex mutex_{};
  Sums sums_{};
  std::vector<std::string> failed_{};
};

void C02::run(const std::string& name, Ends ends, Duration offset) {
  const auto first = make_lock(*a_, name, form(), Part::in_the_way, options_);
  const auto second = make_lock(*b_, name, form(), Part::tried, options_);
  const auto third = make_lock(*c_, name, form(), Part::alone, options_);
  Lease held = first->acquire();
  const Fence fence = held.fence();
  const Instant start = BootClock::now();
  const Instant end = start + release_after_ + offset;
  std::stop_source stop;
  std::jthread releaser{[&] {
    std::this_thread::sleep_for(start + release_after_ - BootClock::now());
    held.release();
  }};
  std::jthread canceller;
  Wait wait{.timeout = end - start, .stop = stop.get_token()};
  if (ends == Ends::by_cancel) {
    wait.timeout = 60s;
    canceller = std::jthread{[&] {
      std::this_thread::sleep_for(end - BootClock::now());
      stop.request_stop();
    }};
  }
  std::error_code ec;
  Lease won = second->acquire(wait, ec);
  const Instant returned = BootClock::now();
  if (ends == Ends::by_cancel && ec) {
    EXPECT_LE(returned - end, 1s) << "cancel came back late";
  }
  if (!ec) {
    ASSERT_TRUE(won.valid());
    EXPECT_GT(won.fence(), fence);
    const NameView view = c_->inspect(name);
    ASSERT_EQ(view.holders.size(), 1U);
    EXPECT_EQ(view.holders[0].owner, won.owner());
    EXPECT_FALSE(third->try_acquire(ec).has_value());
    EXPECT_FALSE(ec) << ec.message();
    won.release();
    const std::lock_guard lock{mutex_};
    ++sums_.granted;
    return;
  }
  EXPECT_TRUE(ec == errc::timed_out || ec == errc::cancelled ||
              (answers_late_ > 0ms && ec == errc::outcome_unknown))
      << ec.message();
  EXPECT_FALSE(won);
  // A releases within 20 ms of B's end at the latest: C waits for that too, not for an orphan.
  std::error_code free_ec;
  Lease next = third->acquire({.timeout = 5s}, free_ec);
  const Instant got = BootClock::now();
  ASSERT_FALSE(free_ec) << name << ": an orphan is left: " << free_ec.message();
  EXPECT_LE(got - returned, 1s) << name;
  const std::lock_guard lock{mutex_};
  ++sums_.failed;
  failed_.push_back(name);
  sums_.free_after_max = std::max(sums_.free_after_max, got - returned);
  if (ends == Ends::by_cancel) {
    sums_.cancel_took_max = std::max(sums_.cancel_took_max, returned - end);
  }
}

// From 20 ms before the release to 20 ms after it, in even steps, some runs at a time.
void C02::series(const char* title, Ends ends) {
  sums_ = {};
  failed_.clear();
  const int runs = short_or_full(form() == Form::mutex ? 40 : 20, 200);
  std::atomic<int> next{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < at_once_; ++i) {
    threads.emplace_back([&] {
      for (int n = next++; n < runs && !HasFatalFailure(); n = next++) {
        // A late answer moves the moment of the grant, as B sees it.
        const Duration offset = -20ms + n * (Duration{40ms} + answers_late_) / runs;
        run(std::string{title} + std::to_string(n), ends, offset);
      }
    });
  }
  threads.clear();
  figure("C02 ", GetParam(), " ", title, ": runs=", runs, " granted=", sums_.granted,
         " failed=", sums_.failed, " free_after_max_ms=", ms(sums_.free_after_max),
         " cancel_took_max_ms=", ms(sums_.cancel_took_max));
  EXPECT_EQ(sums_.granted + sums_.failed, runs);
  EXPECT_EQ(b_->counters().held, 0U);
  for (const std::string& name : failed_) {
    EXPECT_FALSE(renewals_.of(name)) << name << " was renewed although B's wait for it failed";
  }
}

TEST_P(C02, DeadlineMeetsGrant) {
  a_ = store().connect();
  b_ = store().connect({.observer = &renewals_});
  c_ = store().connect();
  series("deadline", Ends::by_deadline);
}

TEST_P(C02, CancelMeetsGrant) {
  a_ = store().connect();
  b_ = store().connect({.observer = &renewals_});
  c_ = store().connect();
  series("cancel", Ends::by_cancel);
}

TEST_P(C02, GrantOnTheWireAtTheDeadline) {
  slow_ = store().link();
  a_ = store().connect();
  b_ = slow_->connect({.observer = &renewals_});
  c_ = store().connect();
  connect_fully(*b_);
  slow_->delay(50ms);
  answers_late_ = 50ms;
  release_after_ = short_or_full<Duration>(200ms, 1s);
  series("slow", Ends::by_deadline);
}

CASE_ON_EVERY_FORM(C02);

}  // namespace
}  // namespace holdfast::chaos

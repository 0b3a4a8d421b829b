// C14: after a loss. The release must not mask the user's own exception, end the process, hang, or
// touch the lock of whoever came next; nor may anything local still count as held.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"

#include <mutex>
#include <stdexcept>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class Outcomes final : public Observer {
 public:
  void on_event(const Event& event) override {
    const std::lock_guard lock{mutex_};
    if (event.kind == Event::Kind::lost) {
      lost_ = event.code;
    } else if (event.kind == Event::Kind::released) {
      released_ = event.code;
    }
  }
  std::error_code lost() {
    const std::lock_guard lock{mutex_};
    return lost_;
  }
  // Lost, or a release that says what is wrong.
  bool told() {
    const std::lock_guard lock{mutex_};
    return lost_ || released_;
  }

 private:
  std::mutex mutex_{};
  std::error_code lost_{};
  std::error_code released_{};
};

class C14 : public OnEveryStore {
 protected:
  struct Seen {
    std::string error{};     // what the caller of the guarded block saw
    Duration unlocked_in{};  // from the end of the block to the caller
  };
  // Locks, loses the lock to B behind its back, and leaves the block: by an exception or not.
  Seen guarded(bool fails, Fault fault);
  void expect_no_local_leftovers();
  void run(bool fails, Fault fault);

  Outcomes outcomes_{};
  std::unique_ptr<Link> link_{};
  std::unique_ptr<Client> a_{};
  std::unique_ptr<Client> b_{};
  std::unique_ptr<Mutex> mine_{};
  std::unique_ptr<Mutex> theirs_{};
  std::optional<Lease> of_b_{};
  Fence of_a_ = Fence::none;
};

C14::Seen C14::guarded(bool fails, Fault fault) {
  Seen seen;
  Instant end{};
  try {
    const std::unique_lock lock{*mine_};
    const Instant start = BootClock::now();
    of_a_ = mine_->lease().fence();
    std::this_thread::sleep_until(std::chrono::steady_clock::now() + 500ms);
    store().erase("job");
    of_b_ = theirs_->acquire({.timeout = 5s});
    link_->fault(fault);
    if (fault == Fault::refuse) {
      link_->reset();
    }
    std::this_thread::sleep_for(start + 1s - BootClock::now());
    end = BootClock::now();
    if (fails) {
      throw std::runtime_error{"disk full"};
    }
  } catch (const std::exception& error) {
    seen.error = error.what();
  }
  seen.unlocked_in = BootClock::now() - end;
  return seen;
}

void C14::expect_no_local_leftovers() {
  const auto expect_busy = [&] {
    std::error_code ec;
    const Instant start = BootClock::now();
    const Lease none = mine_->acquire({.timeout = 2s}, ec);
    EXPECT_EQ(ec, errc::timed_out) << ec.message();
    EXPECT_NEAR(ms(BootClock::now() - start), 2000, 250);
  };
  std::jthread another{expect_busy};
  expect_busy();
}

void C14::run(bool fails, Fault fault) {
  link_ = store().link();
  a_ = link_->connect({.observer = &outcomes_});
  b_ = store().connect();
  mine_ = std::make_unique<Mutex>(*a_, "job", LeaseOptions{.ttl = 2s});
  theirs_ = std::make_unique<Mutex>(*b_, "job", LeaseOptions{.ttl = 60s});
  const Seen seen = guarded(fails, fault);
  EXPECT_EQ(seen.error, fails ? "disk full" : "");
  EXPECT_LE(seen.unlocked_in, 2s + 250ms);
  link_->fault(Fault::pass);
  link_->reset();
  EXPECT_TRUE(of_b_->valid()) << "B's lock was touched";
  const NameView view = b_->inspect("job");
  ASSERT_EQ(view.holders.size(), 1U);
  EXPECT_EQ(view.holders[0].owner, of_b_->owner());
  expect_no_local_leftovers();
  EXPECT_TRUE(outcomes_.told()) << "nobody could learn that protection was lost";
  of_b_->release();
  Lease again = mine_->acquire({.timeout = 5s});
  EXPECT_GT(again.fence(), of_a_);
  figure("C14 ", GetParam(), ": unlocked_in_ms=", ms(seen.unlocked_in));
}

TEST_P(C14, ReachableStore) { run(true, Fault::pass); }
TEST_P(C14, RefusingStore) { run(true, Fault::refuse); }
TEST_P(C14, SilentStore) { run(true, Fault::blackhole); }
TEST_P(C14, NormalEndOfScope) { run(false, Fault::pass); }

// (d) with the lease in hand: the loss is seen on the handle and by the release.
TEST_P(C14, TheHandleTellsOfTheLoss) {
  const auto a = store().connect();
  Mutex mutex{*a, "job", {.ttl = 2s}};
  Lease lease = mutex.acquire({.timeout = 5s});
  store().erase("job");
  const Instant erased = BootClock::now();
  while (lease.valid() && BootClock::now() < erased + 5s) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_LE(BootClock::now() - erased, 2000ms / 3 + 250ms);
  EXPECT_EQ(lease.why_lost(), failure::ownership_lost);
  const std::error_code why = lease.why_lost();
  std::error_code ec;
  lease.release(ec);
  EXPECT_EQ(ec, why);
}

CASE_ON_EVERY_STORE(C14);

}  // namespace
}  // namespace holdfast::chaos

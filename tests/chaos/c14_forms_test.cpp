// C14 in every form that gives a Lease: after a loss, leaving the block masks nothing, hangs
// nowhere, touches nobody, and nothing local counts as held.
#include "tests/chaos/lock_form.hpp"
#include "tests/chaos/soak.hpp"

#include <stdexcept>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class C14Forms : public OnEveryForm {};

TEST_P(C14Forms, ALossUnderAnException) {
  const auto a = store().connect();
  const auto b = store().connect();
  const auto mine = make_lock(*a, "job", form(), Part::tried, {.ttl = 2s});
  const auto theirs = make_lock(*b, "job", form(), Part::alone, {.ttl = 60s});
  std::optional<Lease> of_b;
  Fence of_a = Fence::none;
  std::string seen;
  Instant end{};
  try {
    const Lease lease = mine->acquire({.timeout = 5s});
    of_a = lease.fence();
    b->break_name("job", BreakMode::now);
    of_b = theirs->acquire({.timeout = 5s});
    EXPECT_GT(of_b->fence(), of_a);
    while (lease.valid()) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(lease.why_lost(), failure::ownership_lost);
    end = BootClock::now();
    throw std::runtime_error{"disk full"};
  } catch (const std::exception& error) {
    seen = error.what();
  }
  EXPECT_EQ(seen, "disk full");
  EXPECT_LE(BootClock::now() - end, 2s + 250ms);
  EXPECT_TRUE(of_b->valid()) << "B's lock was touched";
  const NameView view = b->inspect("job");
  ASSERT_EQ(view.holders.size(), 1U);
  EXPECT_EQ(view.holders[0].owner, of_b->owner());
  const auto expect_busy = [&] {
    std::error_code ec;
    const Lease none = mine->acquire({.timeout = 300ms}, ec);
    EXPECT_EQ(ec, errc::timed_out) << ec.message();
  };
  std::jthread{expect_busy}.join();
  expect_busy();  // the thread that lost it, too: it is not in its own way
  of_b->release();
  EXPECT_GT(mine->acquire({.timeout = 5s}).fence(), of_a);
}

CASE_ON_EVERY_FORM(C14Forms);

}  // namespace
}  // namespace holdfast::chaos

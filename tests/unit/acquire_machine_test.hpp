// The fixture of the tests of AcquireMachine: one wait of one owner, told the time and the replies.
#pragma once

#include "core/acquire_machine.hpp"
#include "core/trust.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace holdfast::acquire_test {

using namespace std::chrono_literals;
using enum AcquireAction;

inline constexpr Duration op_timeout = 2s;

inline Instant at(Duration time) { return Instant{1h + time}; }

inline Claim a_claim(Duration ttl = 30s) {
  Claim claim;
  claim.name = "job";
  claim.owner.bytes[0] = 7;
  claim.ttl = ttl;
  return claim;
}

inline Holder someone(std::int64_t fence = 5) {
  Holder holder;
  holder.owner.bytes[0] = 99;
  holder.fence = Fence{fence};
  return holder;
}

inline AcquireReply granted(std::int64_t fence = 6, Duration ttl = 30s) {
  return Granted{Fence{fence}, Fence{fence}, ttl};
}
inline AcquireReply queued(Duration recheck_in = 20s, std::int64_t fence = 5) {
  return Queued{recheck_in, someone(fence), Fence{fence}};
}
inline AcquireReply busy(Duration recheck_in = 20s) { return Busy{recheck_in, someone()}; }
inline AcquireReply silence() { return Failed{errc::outcome_unknown, true, "no answer in 2s"}; }
inline AcquireReply refusal() {
  return Failed{errc::store_unavailable, false, "connection refused"};
}

inline HandedOff handed(std::int64_t fence = 6) {
  return {a_claim().owner, Fence{fence}, Fence{fence}};
}

class Acquire : public ::testing::Test {
 protected:
  // Starts a wait that ends at `deadline`, or none.
  void wait(std::optional<Duration> deadline = std::nullopt, Duration ttl = 30s,
            std::optional<Duration> margin = std::nullopt) {
    machine_.emplace(a_claim(ttl), margin, deadline ? std::optional{at(*deadline)} : std::nullopt);
  }
  AcquireAction start(Duration now = 0s) { return machine_->start(ask_and_queue, at(now)); }
  AcquireAction reply(const AcquireReply& reply, Duration now) {
    return machine_->on_reply(machine_->ask_id(), reply, at(now));
  }
  std::error_code code() const { return machine_->result().code; }
  std::optional<Duration> timer() const {
    const auto when = machine_->next_timer();
    return when ? std::optional{*when - at(0s)} : std::nullopt;
  }
  void expect_clean_up(bool tombstone) const {
    const auto options = machine_->clean_up();
    ASSERT_TRUE(options);
    EXPECT_EQ(options->tombstone, tombstone);
    EXPECT_FALSE(options->keep_min_hold);
  }

  std::optional<AcquireMachine> machine_{};
};

}  // namespace holdfast::acquire_test

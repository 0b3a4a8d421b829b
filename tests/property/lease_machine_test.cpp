// Random answers at random times: trust never outruns what the store confirmed.
#include "core/lease_machine.hpp"
#include "core/trust.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class Watch {
 public:
  Watch() {
    options_.ttl = std::chrono::milliseconds{*rc::gen::inRange(100, 60'000)};
    if (*rc::gen::arbitrary<bool>()) {
      options_.max_hold = std::chrono::milliseconds{*rc::gen::inRange(100, 200'000)};
    }
    granted_ = std::min(options_.ttl, options_.max_hold.value_or(options_.ttl));
    margin_ = margin_of(options_, options_.ttl);
    allowed_ = trusted_until(now_, granted_, margin_);
    machine_.emplace(options_, LeaseMachine::Grant{granted_, now_, allowed_, false}, 11);
    see(machine_->start(now_));
  }

  void step() {
    now_ += std::chrono::milliseconds{*rc::gen::inRange(0, 5'000)};
    const int what = *rc::gen::inRange(0, 4);
    if (what == 0 && sent_) {
      see(machine_->on_reply(Failed{errc::outcome_unknown, true, ""}, now_));
      sent_.reset();
    } else if (what == 1 && sent_) {
      // The store executed it at some instant between sending and now; it counts from there.
      const Duration ttl = *rc::gen::inRange<std::int64_t>(1, granted_.count()) * 1ns;
      if (!lost_) {
        allowed_ = std::max(allowed_, *sent_ + ttl - margin_);
      }
      const Instant confirmed = *sent_;
      sent_.reset();
      see(machine_->on_reply(Renewed{ttl}, now_));
      RC_ASSERT(machine_->trusted_until() <= std::max(allowed_, confirmed + ttl));
    } else if (what == 2) {
      see(machine_->verify(now_));
    } else {
      see(machine_->on_timer(now_));
    }
    check();
  }

 private:
  void see(LeaseAction action) {
    if (action == LeaseAction::renew) {
      RC_ASSERT(!lost_);  // never after the end
      RC_ASSERT(!sent_);  // one at a time
      sent_ = now_;
    } else if (action == LeaseAction::lose) {
      RC_ASSERT(!lost_);  // told once
      lost_ = true;
    }
  }
  void check() {
    RC_ASSERT(machine_->lost() == lost_);
    if (!lost_) {
      RC_ASSERT(machine_->trusted_until() <= allowed_);
      // The next look comes before trust is over, or is overdue already.
      RC_ASSERT(machine_->next_timer().has_value());
      RC_ASSERT(*machine_->next_timer() <= std::max(machine_->trusted_until(), now_));
    }
  }

  Instant now_{1h};
  LeaseOptions options_{};
  Duration granted_{};
  Duration margin_{};
  Instant allowed_{};
  std::optional<LeaseMachine> machine_{};
  std::optional<Instant> sent_{};
  bool lost_ = false;
};

RC_GTEST_PROP(LeaseMachineSteps, TrustNeverOutrunsWhatWasConfirmed, ()) {
  Watch watch;
  const int steps = *rc::gen::inRange(1, 100);
  for (int i = 0; i < steps; ++i) {
    watch.step();
  }
}

}  // namespace
}  // namespace holdfast

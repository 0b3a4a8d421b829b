// Random answers, hints and pauses: a wait never trusts what was not granted, never loses what may
// be in the store, and never sleeps without an alarm.
#include "core/acquire_machine.hpp"
#include "core/trust.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class Waiting {
 public:
  Waiting() {
    Claim claim;
    claim.name = "job";
    claim.owner.bytes[0] = 1;
    claim.ttl = std::chrono::milliseconds{*rc::gen::inRange(100, 60'000)};
    if (*rc::gen::arbitrary<bool>()) {
      deadline_ = now_ + std::chrono::milliseconds{*rc::gen::inRange(0, 20'000)};
    }
    machine_.emplace(claim, std::nullopt, deadline_);
    single_ = deadline_ && *deadline_ <= now_;
    see(machine_->start(*rc::gen::element(AcquireAction::ask, AcquireAction::ask_and_queue), now_));
  }

  void step() {
    if (machine_->finished()) {
      return;
    }
    now_ += std::chrono::milliseconds{*rc::gen::inRange(0, 3'000)};
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
      case 1:
        answer();
        break;
      case 2:
        hand_off();
        break;
      case 3:
        see(machine_->on_hint(now_));
        break;
      default:
        see(machine_->on_timer(now_));
    }
    check();
  }

  // Whatever happened, once its timers run and the store is silent, it ends at its deadline.
  void run_out() {
    const Instant from = now_;
    for (int steps = 0; deadline_ && !single_ && !machine_->finished(); ++steps) {
      RC_ASSERT(steps < 10'000);
      now_ = std::max(now_, machine_->next_timer().value());
      RC_ASSERT(now_ <= std::max(*deadline_, from));
      see(machine_->on_timer(now_));
    }
  }

 private:
  void answer() {
    if (!asked_) {
      return;
    }
    const Instant sent = *asked_;
    asked_.reset();
    Holder holder;
    holder.fence = Fence{*rc::gen::inRange(1, 100)};
    AcquireReply reply;
    switch (*rc::gen::inRange(0, 5)) {
      case 0: {
        const Duration ttl = machine_->claim().ttl;
        proven_ = std::max(proven_, trusted_until(sent, ttl, default_margin(ttl)));
        reply = Granted{Fence{200}, Fence{200}, ttl};
        placed_ = true;
        break;
      }
      case 1:
        reply =
            Queued{std::chrono::milliseconds{*rc::gen::inRange(0, 60'000)}, holder, holder.fence};
        beat_ = sent;
        behind_ = holder.fence;
        placed_ = true;
        break;
      case 2:
        reply = Busy{1s, holder};
        break;
      case 3:
        reply = Failed{errc::store_unavailable, false, "refused"};
        break;
      default:
        reply = Failed{errc::outcome_unknown, true, "no answer"};
        unanswered_ = true;
    }
    see(machine_->on_reply(machine_->ask_id(), reply, now_));
  }

  void hand_off() {
    const Fence fence{*rc::gen::inRange(1, 150)};
    const Claim& claim = machine_->claim();
    if (beat_ && fence > behind_) {
      proven_ = std::max(proven_, trusted_until(*beat_, claim.liveness, default_margin(claim.ttl)));
    }
    see(machine_->on_handed_off({claim.owner, fence, fence}, now_));
  }

  void see(AcquireAction action) {
    if (action == AcquireAction::ask || action == AcquireAction::ask_and_queue) {
      RC_ASSERT(!asked_);  // one at a time
      asked_ = now_;
    }
    RC_ASSERT((action == AcquireAction::finish) == machine_->finished());
  }

  void check() {
    if (!machine_->finished()) {
      RC_ASSERT((asked_ || machine_->next_timer()));  // somebody wakes it
      RC_ASSERT((single_ || !deadline_ || *machine_->next_timer() <= *deadline_));
      return;
    }
    const AcquireResult& result = machine_->result();
    if (!result.code) {
      RC_ASSERT(result.trusted_until > now_);
      RC_ASSERT(result.trusted_until <= proven_);
      RC_ASSERT(!machine_->clean_up());
      RC_ASSERT((result.tombstone || (!asked_ && !unanswered_)));
      return;
    }
    const auto left_over = machine_->clean_up();
    RC_ASSERT((left_over || (!placed_ && !asked_ && !unanswered_)));
    RC_ASSERT((!left_over || left_over->tombstone || (!asked_ && !unanswered_)));
  }

  Instant now_{1h};
  std::optional<Instant> deadline_{};
  bool single_ = false;
  std::optional<AcquireMachine> machine_{};
  std::optional<Instant> asked_{};  // the sending of the ask in flight
  std::optional<Instant> beat_{};
  Fence behind_ = Fence::none;
  Instant proven_{};     // how long any answer allows to trust
  bool placed_ = false;  // the store said that something of ours is there
  bool unanswered_ = false;
};

RC_GTEST_PROP(AcquireMachineSteps, KeepsItsPromisesWhateverComes, ()) {
  Waiting waiting;
  const int steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    waiting.step();
  }
  waiting.run_out();
}

}  // namespace
}  // namespace holdfast

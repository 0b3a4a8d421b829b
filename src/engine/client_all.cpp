// ClientCore's part in acquire_all: several names at once, and giving them back at once.
#include "engine/blocked_wait.hpp"
#include "engine/client_core.hpp"
#include "engine/deadline.hpp"

#include <algorithm>
#include <future>

namespace holdfast::detail {

namespace {

// The machine wants them in one order, whoever asks.
std::vector<Claim> by_name(std::vector<Claim> claims) {
  std::ranges::sort(claims, {}, &Claim::name);
  return claims;
}

OwnerId fresh_owner(Runtime& random) {
  OwnerId owner;
  random.random_bytes(owner.bytes);
  return owner;
}

}  // namespace

ClientCore::AllOutcome ClientCore::acquire_all(const std::vector<Ask>& asks, const Wait& wait) {
  require_usable();
  if (wait.stop.stop_requested()) {
    return {{}, errc::cancelled, {}};
  }
  std::vector<Claim> claims;
  bool at_once = false;
  {
    const LanePool::Borrowed lane = lanes_.borrow();
    for (const Ask& ask : asks) {
      if (auto refusal = why_refused(ask, lane->store().capabilities())) {
        return {{}, refusal->code, std::move(refusal->detail)};
      }
      claims.push_back(make_claim(ask, lane->runtime()));
    }
    at_once = lane->store().grants_at_once(claims);
  }
  const std::uint64_t id = ++last_group_;
  const auto blocked = std::make_shared<BlockedWait<AcquireAllMachine>>();
  AcquireAllMachine machine{by_name(std::move(claims)), asks.front().options.safety_margin,
                            deadline_of(wait, BootClock::now()), at_once,
                            [this] { return fresh_owner(loop_->runtime()); }};
  ++tally_.waiting;
  on_loop([id, collected = std::move(machine), wake = WakeCaller<AcquireAllMachine>{blocked},
           thread = thread_number()](Engine& engine) mutable {
    engine.acquire_all(id, std::move(collected), std::move(wake), thread);
  });
  const auto stop = [&] { on_loop([id](Engine& engine) { engine.cancel_all(id); }); };
  const std::stop_callback on_stop{wait.stop, stop};
  const auto ended = blocked->get();
  --tally_.waiting;
  return ended ? conclude_all(*ended, asks) : AllOutcome{{}, errc::closed, {}};
}

ClientCore::AllOutcome ClientCore::conclude_all(const AcquireAllMachine& machine,
                                                const std::vector<Ask>& asks) {
  const AcquireResult& result = machine.result();
  if (result.code) {
    const Claim& claim = machine.claims()[machine.index()];
    Event event{.kind = Event::Kind::not_granted, .name = claim.name};
    event.owner = claim.owner;
    event.code = result.code;
    event.detail = result.detail;
    event.holder = result.holder.value_or(Holder{});
    on_event(std::move(event));
    return {{}, result.code, result.detail};
  }
  AllOutcome outcome;
  for (const Ask& ask : asks) {
    const auto claim = std::ranges::find(machine.claims(), ask.name, &Claim::name);
    const auto& grant =
        machine.grants()[static_cast<std::size_t>(claim - machine.claims().begin())];
    if (Lease lease = make_lease(*claim, *grant, ask.options, thread_number())) {
      outcome.leases.push_back(std::move(lease));
    } else {
      // Granted while the client was closed: nobody would watch over it.
      withdraw_on_lane(*claim, {.keep_min_hold = false, .tombstone = grant->tombstone});
      outcome.code = errc::closed;
    }
  }
  if (outcome.code) {
    release_all(std::exchange(outcome.leases, {}));
  }
  return outcome;
}

std::error_code ClientCore::release_all(std::vector<Lease> leases) noexcept try {
  if (!usable()) {
    return errc::closed;
  }
  struct Answers {
    std::promise<void> all{};
    std::size_t missing = 0;
    std::error_code first{};
  };
  std::error_code lost;
  std::vector<std::shared_ptr<LeaseState>> held;
  for (Lease& lease : leases) {
    const std::shared_ptr<LeaseState> state = std::exchange(lease.state_, {});
    if (state->leave_held(LeasePhase::released)) {
      held.push_back(state);
    } else if (state->phase.load() == LeasePhase::lost) {
      lost = lost ? lost : make_error_code(state->why.load());
      clean_up_lost(state);
    }
  }
  const auto answers = std::make_shared<Answers>();
  const auto done = answers->all.get_future();
  answers->missing = held.size();
  const bool asked = !held.empty() && on_loop([held, answers](Engine& engine) {
    for (const std::shared_ptr<LeaseState>& lease : held) {
      engine.release(lease, [answers](std::error_code code) {
        answers->first = answers->first ? answers->first : code;
        if (--answers->missing == 0) {
          answers->all.set_value();
        }
      });
    }
  });
  const bool told = asked && done.wait_for(release_max) == std::future_status::ready;
  if (lost || held.empty()) {
    return lost;
  }
  return told && answers->missing == 0 ? answers->first : errc::outcome_unknown;
} catch (...) {
  return errc::outcome_unknown;  // out of memory: the TTL is the safety net
}

// The record may still be ours; an owner-checked release frees the name sooner.
void ClientCore::clean_up_lost(const std::shared_ptr<LeaseState>& lease) {
  if (lease->why.load() != errc::taken) {
    on_loop([lease](Engine& engine) {
      engine.clean_up(lease->claim, {.keep_min_hold = true, .tombstone = lease->tombstone});
    });
  }
}

}  // namespace holdfast::detail

// The fixture of the engine's tests: the real Engine on a store that is scripted and a clock that
// is moved by hand.
#pragma once

#include "core/trust.hpp"
#include "engine/engine.hpp"
#include "tests/support/manual_runtime.hpp"
#include "tests/support/scripted_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::detail {

using namespace std::chrono_literals;

class EngineTest : public ::testing::Test {
 protected:
  using Verb = test::ScriptedStore::Asked::Verb;

  struct Sink final : EngineSink {
    void on_event(Event event) override { events.push_back(std::move(event)); }
    void on_lost(const std::shared_ptr<LeaseState>& lease) override { lost.push_back(lease); }
    std::size_t count(Event::Kind kind) const {
      return static_cast<std::size_t>(std::ranges::count(events, kind, &Event::kind));
    }
    std::vector<Event> events{};
    std::vector<std::shared_ptr<LeaseState>> lost{};
  };
  struct Ended {
    int times = 0;
    AcquireResult result{};
  };

  EngineTest() {
    auto store = std::make_unique<test::ScriptedStore>();
    store_ = store.get();
    engine_.emplace(runtime_, std::move(store), sink_);
  }

  Claim claim(Duration ttl = 30s, const std::string& name = "job") {
    Claim made;
    made.name = name;
    runtime_.random_bytes(made.owner.bytes);
    made.ttl = ttl;
    made.liveness = liveness_of(ttl);
    return made;
  }

  // Starts a wait; what it ends in is told there.
  std::shared_ptr<Ended> wait(const Claim& claim, std::optional<Duration> timeout = {}) {
    auto ended = std::make_shared<Ended>();
    const auto deadline = timeout ? std::optional{runtime_.now() + *timeout} : std::nullopt;
    engine_->start(AcquireMachine{claim, {}, deadline}, [ended](const AcquireMachine& machine) {
      ++ended->times;
      ended->result = machine.result();
    });
    runtime_.run();
    return ended;
  }

  // A lease of `claim` that was granted at this moment.
  std::shared_ptr<LeaseState> hold(const Claim& claim, LeaseOptions options = {},
                                   std::optional<LeaseMachine::Grant> grant = {}) {
    options.ttl = claim.ttl;
    const Instant now = runtime_.now();
    if (!grant) {
      grant = LeaseMachine::Grant{claim.ttl, now,
                                  trusted_until(now, claim.ttl, margin_of(options, claim.ttl))};
    }
    auto lease = std::make_shared<LeaseState>(claim, Fence{9}, Fence{9}, grant->trusted_until);
    engine_->hold(lease, LeaseMachine{options, *grant, std::hash<OwnerId>{}(claim.owner)});
    runtime_.run();
    return lease;
  }

  template <class Reply>
  void answer(const Reply& reply) {
    store_->answer(reply);
    runtime_.run();
  }
  void answer_acquire(const AcquireReply& reply) { answer(reply); }
  void answer_renew(const RenewReply& reply) { answer(reply); }
  void answer_withdraw(const WithdrawReply& reply) { answer(reply); }
  void tell(const StoreEvent& event) {
    store_->tell(event);
    runtime_.run();
  }
  std::size_t asked(Verb verb) const { return store_->count(verb); }
  const test::ScriptedStore::Asked& oldest() const { return store_->asked().front(); }

  static AcquireReply granted(std::int64_t fence = 6, Duration ttl = 30s) {
    return Granted{Fence{fence}, Fence{fence}, ttl};
  }
  static AcquireReply queued(std::int64_t fence = 5) {
    Holder holder;
    holder.owner.bytes[0] = static_cast<std::uint8_t>(100 + fence);
    holder.fence = Fence{fence};
    return Queued{20s, holder, holder.fence};
  }
  static Failed silence() { return {errc::outcome_unknown, true, "no answer"}; }
  static Failed refusal() { return {errc::store_unavailable, false, "refused"}; }

  test::ManualRuntime runtime_{};
  Sink sink_{};
  test::ScriptedStore* store_ = nullptr;  // the engine's
  std::optional<Engine> engine_{};
};

}  // namespace holdfast::detail

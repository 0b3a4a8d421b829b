// Runs the machines of src/core against one Store on one Runtime: waits, watchdogs, clean-up.
// Everything here happens on that runtime's thread; the simulator runs this very class.
#pragma once

#include <holdfast/observer.hpp>
#include <holdfast/runtime.hpp>
#include <holdfast/store.hpp>

#include "core/acquire_all_machine.hpp"
#include "core/acquire_machine.hpp"
#include "core/cleanup_machine.hpp"
#include "core/lease_machine.hpp"
#include "engine/lease_state.hpp"
#include "engine/own_holds.hpp"

#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::detail {

// What the engine tells; called on its thread, so it must hand on to others at once.
class EngineSink {
 public:
  EngineSink() = default;
  EngineSink(const EngineSink&) = delete;
  EngineSink& operator=(const EngineSink&) = delete;
  virtual ~EngineSink() = default;
  virtual void on_event(Event event) = 0;
  // The state is marked lost already; what is left is to request stop, off this thread.
  virtual void on_lost(const std::shared_ptr<LeaseState>& lease) = 0;
};

class Engine {
 public:
  using AcquireHandler = UniqueFunction<void(const AcquireMachine&)>;
  using AcquireAllHandler = UniqueFunction<void(AcquireAllMachine)>;
  using ReleaseHandler = UniqueFunction<void(std::error_code)>;

  Engine(Runtime& runtime, std::unique_ptr<Store> store, EngineSink& sink);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Runs a new machine to its end.
  void start(AcquireMachine machine, AcquireHandler handler);
  // Runs `machine`, whose last action was `action`, to its end; then withdraws what it left, and
  // calls `handler` once, never from inside this call. Once the store says that it has to wait, and
  // `thread` itself holds what is in the way, it ends with errc::would_deadlock.
  void acquire(AcquireMachine machine, AcquireAction action, AcquireHandler handler,
               std::uint32_t thread = no_thread);
  void cancel(const OwnerId& owner, errc why = errc::cancelled);  // unknown or ended: no effect

  // The same for several names, all or none. `id` is a number of its own.
  void acquire_all(std::uint64_t id, AcquireAllMachine machine, AcquireAllHandler handler,
                   std::uint32_t thread = no_thread);
  void cancel_all(std::uint64_t id, errc why = errc::cancelled);

  // Watches over a granted lease until it is released, abandoned or lost.
  void hold(const std::shared_ptr<LeaseState>& lease, const LeaseMachine& watchdog);
  void forget(const OwnerId& owner);  // released or abandoned elsewhere
  void report_stale(const OwnerId& owner);
  void downgraded(const OwnerId& owner);  // the store says so: it is a reader's lease now
  void verify(const OwnerId& owner);      // something raised a doubt: ask the store now

  // Gives the lease back. Answers the code that Lease::release() documents.
  void release(const std::shared_ptr<LeaseState>& lease, ReleaseHandler handler);
  // Withdraws, first at `when` (default: now), until answered or pointless.
  void clean_up(const Claim& claim, WithdrawOptions options, Instant when = {});

  // Cancels waits (errc::closed), releases leases; calls `handler` when all are answered.
  void close(UniqueFunction<void()> handler);

  Store& store() noexcept { return *store_; }
  std::size_t holding() const noexcept { return leases_.size(); }
  std::size_t waiting() const noexcept { return waits_.size(); }
  std::size_t cleaning() const noexcept { return cleanups_.size(); }

 private:
  struct Wait {
    Wait(AcquireMachine the_machine, AcquireHandler the_handler, std::uint32_t the_thread)
        : machine(std::move(the_machine)), handler(std::move(the_handler)), thread(the_thread) {}

    AcquireMachine machine;
    AcquireHandler handler;
    Runtime::TimerId timer = 0;
    OwnerId told{};        // the holder that was last told to the sink
    std::uint32_t thread;  // that waits for it
  };
  struct Group {
    Group(AcquireAllMachine the_machine, AcquireAllHandler the_handler, std::uint32_t the_thread)
        : machine(std::move(the_machine)), handler(std::move(the_handler)), thread(the_thread) {}

    AcquireAllMachine machine;
    AcquireAllHandler handler;
    Runtime::TimerId timer = 0;
    std::uint32_t thread;
  };
  struct Watched {
    Watched(std::shared_ptr<LeaseState> the_state, const LeaseMachine& watchdog)
        : state(std::move(the_state)), machine(watchdog) {}

    std::shared_ptr<LeaseState> state;
    LeaseMachine machine;
    Instant due{};
  };
  struct Cleanup {
    Cleanup(Claim the_claim, WithdrawOptions the_options, Instant give_up_at)
        : claim(std::move(the_claim)),
          options(the_options),
          machine(give_up_at, std::hash<OwnerId>{}(claim.owner)) {}

    Claim claim;
    WithdrawOptions options;
    CleanupMachine machine;
    Runtime::TimerId timer = 0;
  };
  using Due = std::pair<Instant, OwnerId>;

  void step(const OwnerId& owner, AcquireAction action);
  AcquireAction unless_it_waits_for_itself(Wait& wait, AcquireAction action);
  bool waits_for_itself(const Wait& wait) const;
  void send_ask(Wait& wait, Store::Queueing queueing);
  void arm(Wait& wait);
  void finish(const OwnerId& owner);
  void tell_holder(Wait& wait);

  void step_all(std::uint64_t id, AcquireAllAction action);
  void ask_all(std::uint64_t id, const Group& group);
  void ask_one(std::uint64_t id, const Group& group);
  void queue_for_one(std::uint64_t id, const Group& group);
  void finish_all(std::uint64_t id);

  void schedule(Watched& watched);
  void unschedule(Watched& watched);
  void count_as_own(const LeaseState& lease);
  void arm_watchdog();
  void on_watchdog();
  void apply(Watched& watched, LeaseAction action, std::vector<OwnerId>& renewals);
  void send_renewals(const std::vector<OwnerId>& owners);
  void on_renewed(const OwnerId& owner, const RenewReply& reply, std::vector<OwnerId>& again);
  void lose(Watched& watched);
  void late_release(const LeaseState& lease, Instant expires);
  void verify(const OwnerId& owner, std::vector<OwnerId>& renewals);
  void on_release_reply(const std::shared_ptr<LeaseState>& lease, const WithdrawReply& reply,
                        ReleaseHandler& handler);

  void run_cleanup(std::uint64_t id, CleanupAction action);
  void on_store_event(const StoreEvent& event);
  void on_doubtful(const StoreEvent& event);
  void on_doubt();
  void emit(Event::Kind kind, const LeaseState& lease, std::error_code code = {},
            std::string detail = {});
  void finish_closing_if_idle();

  Runtime& runtime_;
  EngineSink& sink_;
  std::unordered_map<OwnerId, std::unique_ptr<Wait>> waits_{};
  std::unordered_map<std::uint64_t, std::unique_ptr<Group>> groups_{};
  std::unordered_map<OwnerId, Watched> leases_{};
  OwnHolds own_{};
  std::unordered_map<std::uint64_t, std::unique_ptr<Cleanup>> cleanups_{};
  std::set<Due> due_{};  // one entry a watched lease, by its next timer
  Runtime::TimerId watchdog_timer_ = 0;
  Instant watchdog_at_{};
  std::uint64_t next_cleanup_ = 0;
  std::size_t releasing_ = 0;
  bool closing_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // what is posted may come after our end
  UniqueFunction<void()> closed_{};
  std::unique_ptr<Store> store_;  // last: its pending handlers refer to what is above
};

}  // namespace holdfast::detail

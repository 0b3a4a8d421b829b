// One client's threads: the loop with its engine, the lanes for blocking calls, the notifier.
// Everything public (Client, Mutex, Lease, Operation) is a thin face of this. Thread-safe.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/operation.hpp>

#include "engine/ask.hpp"
#include "engine/engine.hpp"
#include "engine/lane_pool.hpp"
#include "engine/operation_state.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::detail {

// Destructors wait for the store at most this long, whatever op_timeout says.
inline constexpr Duration release_max = std::chrono::seconds{2};

class ClientCore final : public std::enable_shared_from_this<ClientCore>, public EngineSink {
 public:
  ClientCore(std::shared_ptr<StoreFactory> stores, std::shared_ptr<Host> host,
             ClientOptions options);
  ~ClientCore() override;  // close()

  // What a blocking acquire ended in: a lease, or a code with a line for people.
  struct Outcome {
    Lease lease{};
    std::error_code code{};
    std::string detail{};
  };
  struct AllOutcome {
    std::vector<Lease> leases{};  // in the order of the asks
    std::error_code code{};
    std::string detail{};
  };
  Outcome acquire(const Ask& ask, const Wait& wait);
  Operation start_acquire(const Ask& ask, const Wait& wait, LeaseHandler handler);
  void cancel(const OwnerId& owner) noexcept;

  // Precondition: the caller won LeaseState::leave_held(), or the lease was lost.
  std::error_code release(const std::shared_ptr<LeaseState>& lease) noexcept;
  // All of these, whose names differ, or none of them.
  AllOutcome acquire_all(const std::vector<Ask>& asks, const Wait& wait);
  // Gives back several at once, in this order; bounded as one is. Answers the first trouble.
  std::error_code release_all(std::vector<Lease> leases) noexcept;
  // Gives back the lease of `run` and marks it done, in one step. Blocks until the store has said
  // so, or until the lease is over. No code: it is done.
  Outcome finish(Lease lease, const Ask& run, Duration remember);
  // A writer's lease becomes a reader's. Throws Error; the lease is then what it was, or unknown.
  void downgrade(const Lease& held);
  // What the holder says of itself is this from now on. Throws as downgrade() does.
  void set_value(const Lease& held, std::string value);
  void abandon(const OwnerId& owner) noexcept;
  void report_stale(const OwnerId& owner) noexcept;

  Capabilities capabilities();
  Counters counters() const;
  const StoreFactory& stores() const noexcept { return *stores_; }

  // Calls send(store, done) on a lane and runs it until done(reply) is called.
  template <class Reply, class Send>
  Reply ask_store(Send send) {
    require_usable();
    auto answer = std::make_shared<std::optional<Reply>>();
    const LanePool::Borrowed lane = lanes_.borrow();
    send(lane->store(),
         UniqueFunction<void(Reply)>{[answer](Reply reply) { answer->emplace(std::move(reply)); }});
    lane->runtime().run_until([&] { return answer->has_value(); });
    return std::move(**answer);
  }

  void close() noexcept;

  void on_event(Event event) override;
  void on_lost(const std::shared_ptr<LeaseState>& lease) override;

 private:
  class AsyncWait;

  Claim make_claim(const Ask& ask, Runtime& random) const;
  static AcquireAction ask_on_lane(LaneStore& lane, AcquireMachine& machine, const Wait& wait);
  void finish_on_loop(AcquireMachine& machine, AcquireAction action, const Wait& wait);
  // `thread`: that was blocked in it, if one was.
  Outcome conclude(const AcquireMachine& machine, const LeaseOptions& options,
                   std::uint32_t thread);
  // Empty if the client is closed: the lease would not be watched over.
  Lease make_lease(const Claim& claim, const AcquireResult& result, const LeaseOptions& options,
                   std::uint32_t thread);
  void amend(const LeaseState& lease, const Claim& claim);
  void clean_up_lost(const std::shared_ptr<LeaseState>& lease);
  AllOutcome conclude_all(const AcquireAllMachine& machine, const std::vector<Ask>& asks);
  std::optional<WithdrawReply> withdraw_on_lane(const Claim& claim, WithdrawOptions options);
  WithdrawReply withdraw_until(const Claim& claim, WithdrawOptions options, Instant give_up_at);
  bool usable() const noexcept;
  void require_usable() const;
  // Runs `work` with the engine, on the loop, at `latest` or before; or destroys it unrun if the
  // client is closed before that. False: it is closed already, or this is a forked child.
  bool on_loop(UniqueFunction<void(Engine&)> work, Instant latest = {});
  void forget(const OwnerId& owner);
  // Runs `callback` on a notifier thread. False if the client is closed: `callback` is untouched.
  bool tell(UniqueFunction<void()>&& callback);
  bool tell_on(std::unique_ptr<Notifier>& notifier, UniqueFunction<void()>&& callback);

  struct Tally {
    std::atomic<std::uint64_t> granted{0};
    std::atomic<std::uint64_t> not_granted{0};
    std::atomic<std::uint64_t> renewed{0};
    std::atomic<std::uint64_t> renewals_failed{0};
    std::atomic<std::uint64_t> lost{0};
    std::atomic<std::uint64_t> overlaps{0};
    std::atomic<std::uint64_t> released{0};
    std::atomic<std::uint64_t> ended{0};  // released, lost or abandoned
    std::atomic<std::uint64_t> waiting{0};
  };

  const std::shared_ptr<StoreFactory> stores_;
  const std::shared_ptr<Host> host_;
  const ClientOptions options_;
  const std::string host_name_;
  const unsigned born_in_;  // fork generation
  Tally tally_{};
  LanePool lanes_;
  std::mutex notifier_mutex_{};
  // Guarded by notifier_mutex_; empty once closed. The observer has threads of its own, so that a
  // slow one puts off neither the news of a loss nor a handler.
  std::unique_ptr<Notifier> notifier_;
  std::unique_ptr<Notifier> observer_notifier_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Engine> engine_{};  // used on the loop only
  std::atomic<std::uint64_t> last_group_{0};
  std::mutex mutex_{};  // nothing is posted to the loop after closed_ is set
  bool closed_ = false;
  std::atomic<bool> closing_{false};
};

}  // namespace holdfast::detail

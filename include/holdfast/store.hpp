// holdfast/store.hpp: what a store must do. Write one of these and pass the conformance suite
// (tests/conformance) to add a store. Waiting, back-off, watchdog, trust windows, cancellation and
// clean-up are in the engine and the same for all.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>
#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

struct Capabilities {
  bool queue = false;     // keeps waiters in order; the releasing step hands on to the next
  bool wake_ups = false;  // tells waiters by itself; otherwise they look again by timer
  bool ttl = true;        // leases end by themselves (false: they end with a session)
  bool shared = false;    // Mode::shared is understood, and amend() to it
  bool permits = false;   // so are claims with a limit
  bool at_once = false;   // acquire_all() is understood
  bool runs = false;      // done marks: Claim::run_id and WithdrawOptions::remember
  bool values = false;    // Claim::value, and amend() to another
};

// Rules for every Store:
//  1. It belongs to one Runtime and is used only on its thread.
//  2. Each handler is called exactly once, on that thread, never from inside the call, and within
//     op_timeout (2 s unless the URL says otherwise) whatever the server does. close() and the
//     destructor are the exception: handlers still pending then are destroyed uncalled.
//  3. acquire() is idempotent by (name, owner): asked again as the holder it answers Granted with
//     the same fence and a refreshed TTL; asked again as a waiter it is a beat.
//  4. acquire() grants only what is compatible with every holder, and only if nobody living waits
//     before us. The first request of any kind that meets a name where the head of the queue fits
//     grants it, and those behind it that fit beside it.
//  5. An owner that withdrew with `tombstone` is never granted afterwards, even if an older
//     acquire of it arrives late (a tombstone, kept for one TTL).
//  6. Fences of one name rise with each grant: across release, expiry, restart and clean-up.
//  7. Expiry is judged by the store's clock, never by a client's wall clock.
//  8. Failed says whether the request may have had effect.
//  9. A claim that contradicts how the name is used by living holders or waiters (another limit, a
//     lock against a semaphore) is Failed{errc::invalid_options}, without effect.
// 10. A claim that capabilities() does not cover is never sent; the engine refuses it.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  virtual Capabilities capabilities() const = 0;

  enum class Queueing : std::uint8_t { no, yes };
  // With Queueing::yes a name that is not free leaves us in the queue; the request is sent only
  // once wake-ups can reach the listener (or are known not to, within op_timeout).
  virtual void acquire(const Claim& claim, Queueing queueing,
                       UniqueFunction<void(AcquireReply)> done) = 0;

  // Whether acquire_all() of these claims is one atomic step: some stores can do it for names that
  // live side by side only. The engine takes other names one after the other.
  virtual bool grants_at_once(std::span<const Claim> /*claims*/) const {
    return capabilities().at_once;
  }

  // Precondition: grants_at_once(claims). Grants all of these claims or none, in one atomic step
  // and without queueing. Names differ. Claims that are ours already count as granted, and keep
  // their fence.
  virtual void acquire_all(std::span<const Claim> /*claims*/,
                           UniqueFunction<void(AcquireAllReply)> done) {
    done(Failed{errc::unsupported, false, "this store cannot grant several names at once"});
  }

  // Answers in the order of `claims`. Never creates a record, never touches another owner's. A
  // provisional lease becomes a full one. Any number of claims; the store splits batches. A record
  // of the owner with another fence than the claim's is another grant, made by a store that forgot
  // the first (after a failover, say): the lease that is meant is Gone{taken}.
  virtual void renew(std::span<const Claim> claims,
                     UniqueFunction<void(std::vector<RenewReply>)> done) = 0;

  // Makes the record of `claim.owner` say what the claim says: its value, and, from exclusive to
  // shared, its mode, which lets in the shared waiters that come next. Keeps the fence. Mode from
  // shared to exclusive is Failed{errc::invalid_options}. Expiry is not touched.
  virtual void amend(const Claim& /*claim*/, UniqueFunction<void(AmendReply)> done) {
    done(Failed{errc::unsupported, false, "this store cannot change a lease that is held"});
  }

  // Gives back whatever `claim.owner` has: a lease (and hands on), a place in the queue, or an
  // acquire that was never answered. With `remember` and a lease of ours, the run `claim.run_id` is
  // marked done in the same step; where nothing is ours, nothing is marked. Only `claim.name`,
  // `claim.owner`, `claim.run_id` and `claim.ttl` (the life of a tombstone) count.
  virtual void withdraw(const Claim& claim, WithdrawOptions options,
                        UniqueFunction<void(WithdrawReply)> done) = 0;

  // One listener a store, set before the first call and called on the runtime's thread.
  virtual void listen(UniqueFunction<void(const StoreEvent&)> listener) = 0;

  virtual void inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) = 0;
  // Names that start with `prefix` and are held or waited for, in no order, a page at a time.
  virtual void list(const std::string& prefix, const std::string& cursor,
                    UniqueFunction<void(ListReply)> done) = 0;
  virtual void break_name(const std::string& name, BreakMode mode,
                          UniqueFunction<void(BreakReply)> done) = 0;
  // What an operator should know about this store, by looking at it. For `holdfast doctor`.
  virtual void diagnose(UniqueFunction<void(std::vector<Finding>)> done) = 0;

  // Ends connections after flushing what was sent. No verb may follow.
  virtual void close() noexcept = 0;
};

// Opens stores of one kind at one place. Thread-safe. All stores of one factory are one client to
// the server: a waiter that queued through one of them is told through the one that listens.
class StoreFactory {
 public:
  StoreFactory() = default;
  StoreFactory(const StoreFactory&) = delete;
  StoreFactory& operator=(const StoreFactory&) = delete;
  virtual ~StoreFactory() = default;

  // Does no I/O that can block; what is wrong with the place is told by the verbs.
  virtual std::unique_ptr<Store> open(Runtime& runtime) = 0;
  virtual std::string url() const = 0;  // for people: without the password
};

}  // namespace holdfast

// holdfast/shared_mutex.hpp: many readers or one writer, across processes.
//
//   Lease reading = m.acquire_shared({.timeout = 5s});
//   Lease writing = m.acquire({.timeout = 5s});
//   std::shared_lock reader{m, 5s};                        // meets SharedTimedLockable
//
// When not: if reading is short or rare, a Mutex does with less; a reader costs the store as much
// as a writer. Readers that only read what a writer replaces in one step need no lock.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/operation.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast {

// Modes of one name: a Mutex of the same name is a writer. First come, first served: a waiting
// writer stops later readers, and readers that wait next to each other are let in together. Each
// reader has a lease of its own, with its own fence and expiry. There is no upgrade: two readers
// that both wait to become writers would wait for each other.
//
// A thread that waits for what it holds itself gets errc::would_deadlock: a reader that asks to
// write, or that asks to read once more while a writer waits.
//
// Thread-safe. The thread that locked must be the one that unlocks. errc::unsupported on a store
// that knows exclusive locks only (Capabilities::shared).
class SharedMutex {
 public:
  // Throws Error{invalid_name, invalid_options}. Sends nothing.
  SharedMutex(Client& client, std::string name, LeaseOptions options = {});
  ~SharedMutex();  // releases what lock() and lock_shared() took
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  const std::string& name() const noexcept { return writer_.name(); }

  // As a writer. Throws Error: busy or timed_out, cancelled, would_deadlock, or a failure. With
  // `ec` the lease is empty then. try_: one attempt; nullopt: others are inside, or wait.
  Lease acquire(const Wait& wait = {}) { return writer_.acquire(wait); }
  Lease acquire(const Wait& wait, std::error_code& ec) { return writer_.acquire(wait, ec); }
  [[nodiscard]] std::optional<Lease> try_acquire() { return writer_.try_acquire(); }
  [[nodiscard]] std::optional<Lease> try_acquire(std::error_code& ec) {
    return writer_.try_acquire(ec);
  }
  // Throws Error{closed} if the client is closed; everything else is told to the handler. Belongs
  // to no thread: it may wait for what the calling thread holds.
  Operation start_acquire(const Wait& wait, LeaseHandler handler) {
    return writer_.start_acquire(wait, std::move(handler));
  }

  // The same as a reader.
  Lease acquire_shared(const Wait& wait = {});
  Lease acquire_shared(const Wait& wait, std::error_code& ec);
  [[nodiscard]] std::optional<Lease> try_acquire_shared();
  [[nodiscard]] std::optional<Lease> try_acquire_shared(std::error_code& ec);
  Operation start_acquire_shared(const Wait& wait, LeaseHandler handler);

  // Makes a writer's lease of this name a reader's: no writer gets in between, and readers that
  // wait next are let in. Fence, owner and expiry stay. Throws Error: the reason of a loss;
  // outcome_unknown (it may be either now: try again or release); invalid_options if it is not a
  // lease of this name. The lease is held on.
  void downgrade(Lease& writer);

  // --- Lockable, TimedLockable: by thread; throw Error as acquire() does ---
  void lock() { writer_.lock(); }
  [[nodiscard]] bool try_lock() { return writer_.try_lock(); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& timeout) {
    return writer_.try_lock_for(timeout);
  }
  template <class Clock, class Dur>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Dur>& deadline) {
    return writer_.try_lock_until(deadline);
  }
  // A failed release is told to the Observer; the TTL frees the name.
  void unlock() noexcept { writer_.unlock(); }

  // --- SharedLockable, SharedTimedLockable ---
  void lock_shared();
  [[nodiscard]] bool try_lock_shared();
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& timeout) {
    return try_lock_shared_within(detail::timeout_of(timeout));
  }
  template <class Clock, class Dur>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Dur>& deadline) {
    return try_lock_shared_within(detail::timeout_until(deadline));
  }
  void unlock_shared() noexcept;

  // What lock() took counts from now on as taken by lock_shared(). Throws as the other one; the
  // thread then still has it by lock(). Precondition: locked by the calling thread.
  void downgrade();

  // The lease held through lock(), and the latest held through lock_shared(). Precondition: there
  // is one, of the calling thread.
  const Lease& lease() const { return writer_.lease(); }
  const Lease& shared_lease() const;

 private:
  bool try_lock_shared_within(Duration timeout);

  Mutex writer_;
  std::unique_ptr<detail::HeldByThread> held_shared_;
};

}  // namespace holdfast

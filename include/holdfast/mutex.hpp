// holdfast/mutex.hpp: an exclusive lock shared by processes.
//
//   Lease lease = m.acquire({.timeout = 5s});              // you see the lease: preferred
//   std::unique_lock lock{m, 5s};                          // meets TimedLockable
//   m.start_acquire({.timeout = 5s}, handler);             // asynchronous
//
// When not: inside one process use std::mutex; to make a write safe use a guard (or no lock at all:
// docs/explanation/do-you-need-a-lock.md).
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/operation.hpp>

#include <memory>
#include <optional>
#include <string>

namespace holdfast {

// Not reentrant: a thread that waits for what it holds itself gets errc::would_deadlock. Threads of
// one process also exclude each other, through the store. Unlike std::mutex, a Mutex can be lost
// while locked: long work must watch lease().lost(); another thread or process may then be granted
// while this one has yet to unlock.
//
// Thread-safe. The thread that locked must be the one that unlocks.
class Mutex {
 public:
  // Throws Error{invalid_name, invalid_options}. Sends nothing.
  Mutex(Client& client, std::string name, LeaseOptions options = {});
  ~Mutex();  // releases what lock() took
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  const std::string& name() const noexcept { return name_; }

  // Throws Error: busy or timed_out, cancelled, would_deadlock, or a failure. With `ec` the lease
  // is empty then.
  Lease acquire(const Wait& wait = {});
  Lease acquire(const Wait& wait, std::error_code& ec);

  // One attempt. nullopt: somebody else holds it (or waits). Errors only if the store failed.
  [[nodiscard]] std::optional<Lease> try_acquire();
  [[nodiscard]] std::optional<Lease> try_acquire(std::error_code& ec);

  // Throws Error{closed} if the client is closed; everything else is told to the handler. Belongs
  // to no thread: it may wait for what the calling thread holds.
  Operation start_acquire(const Wait& wait, LeaseHandler handler);

  // --- BasicLockable, Lockable, TimedLockable: by thread; throw Error as acquire() does ---
  void lock();
  [[nodiscard]] bool try_lock();
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& timeout) {
    return try_lock_within(detail::timeout_of(timeout));
  }
  template <class Clock, class Dur>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Dur>& deadline) {
    return try_lock_within(detail::timeout_until(deadline));
  }
  void unlock() noexcept;  // a failed release is told to the Observer; the TTL frees the name

  // The lease held through lock(). Precondition: locked by the calling thread.
  const Lease& lease() const;

 private:
  friend class SharedMutex;  // whose writer side this is

  bool try_lock_within(Duration timeout);

  std::shared_ptr<detail::ClientCore> core_;
  std::string name_;
  LeaseOptions options_;
  std::unique_ptr<detail::HeldByThread> held_;
};

}  // namespace holdfast

// holdfast/semaphore.hpp: at most so many at once, across processes.
//
//   holdfast::Semaphore slots{client, "gpu", 4};
//   Lease one = slots.acquire({.timeout = 5s});
//   Lease three = slots.acquire({.timeout = 5s}, 3);       // three at once, or none
//
// When not: to limit a rate (so many a minute), or threads of one process
// (std::counting_semaphore).
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/operation.hpp>

#include <memory>
#include <optional>
#include <string>

namespace holdfast {

// A lease carries one permit or several, and gives all of them back when it is released, or at its
// TTL if its holder is gone: the store records holders, it counts nothing that could be miscounted.
// First come, first served: who waits for many permits is not passed by those who want few.
//
// All users of a name must agree on the limit while anybody holds or waits: another one, or a lock
// of the same name, is errc::invalid_options. A thread that waits for permits that it could only
// get if it gave back its own (its own and those asked for exceed the limit) gets
// errc::would_deadlock. Thread-safe; a lease may be released by any thread. errc::unsupported on a
// store without semaphores (Capabilities::permits).
class Semaphore {
 public:
  // `limit`: 1 to limit_max. Throws Error{invalid_name, invalid_options}. Sends nothing.
  Semaphore(Client& client, std::string name, std::uint32_t limit, LeaseOptions options = {});

  const std::string& name() const noexcept { return name_; }
  std::uint32_t limit() const noexcept { return limit_; }

  // All of `permits` (1 to limit()) in one lease. Throws Error: busy or timed_out, cancelled,
  // would_deadlock, invalid_options, or a failure. With `ec` the lease is empty then.
  Lease acquire(const Wait& wait = {}, std::uint32_t permits = 1);
  Lease acquire(const Wait& wait, std::error_code& ec, std::uint32_t permits = 1);

  // One attempt. nullopt: there are not so many, or others wait.
  [[nodiscard]] std::optional<Lease> try_acquire(std::uint32_t permits = 1);
  [[nodiscard]] std::optional<Lease> try_acquire(std::error_code& ec, std::uint32_t permits = 1);

  // Throws Error{closed} if the client is closed; everything else is told to the handler. Belongs
  // to no thread: it may wait for what the calling thread holds.
  Operation start_acquire(const Wait& wait, LeaseHandler handler, std::uint32_t permits = 1);

 private:
  std::shared_ptr<detail::ClientCore> core_;
  std::string name_;
  std::uint32_t limit_;
  LeaseOptions options_;
};

}  // namespace holdfast

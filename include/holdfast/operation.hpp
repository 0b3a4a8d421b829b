// holdfast/operation.hpp: the one asynchronous primitive. Blocking calls, futures, coroutines and
// completion tokens are all thin adapters over start_acquire() and a handler.
//
//   Operation op = mutex.start_acquire({.timeout = 5s}, [](std::error_code ec, Lease lease) {...});
//   op.cancel();
#pragma once

#include <holdfast/function.hpp>
#include <holdfast/lease.hpp>

#include <memory>
#include <system_error>

namespace holdfast {

namespace detail {
struct OperationState;
}

// Called exactly once, on a notifier thread, never from inside start_*(). It may block, but other
// handlers then need another of at most 32 threads. On error the lease is empty.
using LeaseHandler = UniqueFunction<void(std::error_code, Lease)>;

// A running wait. Destroying it does not cancel. cancel() is safe from any thread at any time;
// the handler still runs: with errc::cancelled, or with the lease if that came first.
class Operation {
 public:
  Operation() noexcept = default;
  explicit Operation(std::shared_ptr<detail::OperationState> state) noexcept;
  void cancel() noexcept;

 private:
  std::shared_ptr<detail::OperationState> state_{};
};

}  // namespace holdfast

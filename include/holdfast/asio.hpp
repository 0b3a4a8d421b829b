// holdfast/asio.hpp: completion-token forms. The only public header that includes Asio (the
// stand-alone one); needs nothing else to be linked.
//
//   std::future<Lease> future = async_acquire(mutex, {.timeout = 5s}, asio::use_future);
//
//   const Wait wait{.timeout = 5s};                    // a name, for g++ 12: see below
//   Lease lease = co_await async_acquire(mutex, wait, asio::use_awaitable);
//
// When not: in code that may block, use acquire(). g++ 12 destroys a braced or aggregate temporary
// twice that stands inside a co_await expression: give it a name first, as above.
#pragma once

#include <holdfast/mutex.hpp>
#include <holdfast/operation.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/dispatch.hpp>
#include <asio/execution/outstanding_work.hpp>
#include <asio/post.hpp>
#include <asio/prefer.hpp>

#include <concepts>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

namespace holdfast {

template <class Lock>
concept Acquirable = requires(Lock& lock, const Wait& wait, LeaseHandler handler) {
  { lock.start_acquire(wait, std::move(handler)) } -> std::same_as<Operation>;
};

namespace detail {

// The handler of one wait, which is called once on its own executor. Until then that executor has
// work, so that its run() does not return. No thread but the executor's touches the handler, or its
// cancellation slot, after it was made.
template <class Handler>
class AsioWait {
 public:
  explicit AsioWait(Handler handler)
      : executor_(asio::prefer(asio::get_associated_executor(handler),
                               asio::execution::outstanding_work.tracked)),
        handler_(std::move(handler)) {}

  // From a thread of the client's.
  void deliver(std::error_code code, Lease lease) {
    asio::dispatch(executor_, completion(code, std::move(lease)));
  }
  // From inside the initiating call, which must return first.
  void deliver_later(std::error_code code) { asio::post(executor_, completion(code, Lease{})); }

 private:
  // By value: where the executor knows no outstanding work, prefer() hands back its argument, a
  // temporary, by reference.
  using Executor = std::decay_t<decltype(asio::prefer(
      asio::get_associated_executor(std::declval<const Handler&>()),
      asio::execution::outstanding_work.tracked))>;

  auto completion(std::error_code code, Lease lease) {
    return [handler = std::move(handler_), code, held = std::move(lease)]() mutable {
      if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
        slot.clear();
      }
      std::move(handler)(code, std::move(held));
    };
  }

  Executor executor_;
  Handler handler_;
};

// `start` is called with a LeaseHandler and answers the Operation.
template <class Start, class Handler>
void start_on_asio(Start& start, Handler handler) {
  const auto slot = asio::get_associated_cancellation_slot(handler);
  const auto operation = std::make_shared<Operation>();
  if (slot.is_connected()) {
    auto writable = slot;
    writable.assign([operation](asio::cancellation_type) { operation->cancel(); });
  }
  const auto wait = std::make_shared<AsioWait<Handler>>(std::move(handler));
  try {
    *operation =
        start([wait](std::error_code code, Lease lease) { wait->deliver(code, std::move(lease)); });
  } catch (const Error& error) {
    wait->deliver_later(error.code());
  }
}

template <class Start, class Token>
auto async_start(Start start, Token&& token) {
  return asio::async_initiate<Token, void(std::error_code, Lease)>(
      [start = std::move(start)](auto handler) mutable {
        start_on_asio(start, std::move(handler));
      },
      token);
}

}  // namespace detail

// Calls the token's handler with (std::error_code, Lease) once, on its associated executor; the
// codes are those of start_acquire(), errc::closed among them. Asio's per-operation cancellation,
// of any type, ends the wait as Operation::cancel() does. `lock` must live until the call returns,
// the client may be closed at any time; the execution context must outlive the wait, as for every
// asynchronous operation.
template <Acquirable Lock, asio::completion_token_for<void(std::error_code, Lease)> Token>
auto async_acquire(Lock& lock, Wait wait, Token&& token) {
  return detail::async_start(
      [&lock, wait = std::move(wait)](LeaseHandler handler) {
        return lock.start_acquire(wait, std::move(handler));
      },
      std::forward<Token>(token));
}

// The same for several permits at once.
template <asio::completion_token_for<void(std::error_code, Lease)> Token>
auto async_acquire(Semaphore& semaphore, Wait wait, std::uint32_t permits, Token&& token) {
  return detail::async_start(
      [&semaphore, wait = std::move(wait), permits](LeaseHandler handler) {
        return semaphore.start_acquire(wait, std::move(handler), permits);
      },
      std::forward<Token>(token));
}

// The same as a reader.
template <asio::completion_token_for<void(std::error_code, Lease)> Token>
auto async_acquire_shared(SharedMutex& mutex, Wait wait, Token&& token) {
  return detail::async_start(
      [&mutex, wait = std::move(wait)](LeaseHandler handler) {
        return mutex.start_acquire_shared(wait, std::move(handler));
      },
      std::forward<Token>(token));
}

}  // namespace holdfast

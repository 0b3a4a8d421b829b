// Waiting for a lock with Asio: a future, a coroutine, and a coroutine that gives up.
//
//   example_asio [STORE-URL]
#include <holdfast/asio.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

namespace {

asio::awaitable<void> work(holdfast::Mutex& mutex) {
  const holdfast::Wait wait{.timeout = 5s, .stop = {}};  // with a name: see <holdfast/asio.hpp>
  holdfast::Lease lease = co_await async_acquire(mutex, wait, asio::use_awaitable);
  std::cout << "a coroutine holds it, fence " << to_int(lease.fence()) << '\n';
}

// Whichever ends first cancels the other; a wait that is cancelled leaves nothing behind.
asio::awaitable<void> work_unless_late(holdfast::Mutex& mutex) {
  using asio::experimental::awaitable_operators::operator||;
  asio::steady_timer timer{co_await asio::this_coro::executor, 50ms};
  const holdfast::Wait wait;
  auto first = co_await (async_acquire(mutex, wait, asio::use_awaitable) ||
                         timer.async_wait(asio::use_awaitable));
  std::cout << (first.index() == 0 ? "in time\n" : "too late\n");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    holdfast::Client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::Mutex mutex{client, "report"};
    asio::io_context context;

    std::future<holdfast::Lease> future = async_acquire(mutex, {.timeout = 5s}, asio::use_future);
    holdfast::Lease lease = future.get();

    asio::co_spawn(context, work_unless_late(mutex), asio::detached);
    context.run();

    lease.release();
    context.restart();
    asio::co_spawn(context, work(mutex), asio::detached);
    context.run();
    return 0;
  } catch (const std::system_error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

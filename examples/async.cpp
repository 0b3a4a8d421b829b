// Waiting without a thread: a handler, a cancel, and a callback for the loss.
//
//   example_async [STORE-URL]
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <stop_token>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  try {
    holdfast::Client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::Mutex mutex{client, "report"};

    std::promise<holdfast::Lease> promise;
    std::future<holdfast::Lease> future = promise.get_future();
    holdfast::Operation wait =
        mutex.start_acquire({.timeout = 5s}, [&promise](std::error_code ec, holdfast::Lease lease) {
          if (ec) {
            promise.set_exception(std::make_exception_ptr(std::system_error{ec}));
          } else {
            promise.set_value(std::move(lease));
          }
        });
    // wait.cancel() would end it from any thread.

    holdfast::Lease lease = future.get();
    const std::stop_callback on_loss{lease.lost(), [] { std::cout << "lost: stop now\n"; }};
    std::cout << "granted, fence " << to_int(lease.fence()) << '\n';
    return 0;
  } catch (const std::system_error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

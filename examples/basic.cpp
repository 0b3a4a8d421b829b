// Take a lock, work while the lease is good, hand the fence to whatever you write to.
//
//   example_basic [STORE-URL]
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

namespace {

void pay_next_order(holdfast::Fence fence) {
  std::cout << "paying with fence " << to_int(fence) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  try {
    holdfast::Client client{argc > 1 ? argv[1] : ""};
    holdfast::Mutex mutex{client, "payout", {.ttl = 10s, .note = "nightly run"}};

    std::optional<holdfast::Lease> lease = mutex.try_acquire();
    if (!lease) {
      std::cout << "somebody else does it\n";
      return 0;
    }
    for (int order = 0; order < 3 && !lease->lost().stop_requested(); ++order) {
      pay_next_order(lease->fence());
    }
    lease->release();  // or let it go out of scope
    return 0;
  } catch (const holdfast::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

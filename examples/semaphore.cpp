// At most so many at once, across processes.
//
//   example_semaphore [STORE-URL]
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  try {
    holdfast::Client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::Semaphore slots{client, "transcoder", 4};
    holdfast::Lease one = slots.acquire({.timeout = 10s});
    holdfast::Lease three = slots.acquire({.timeout = 10s}, 3);  // three at once, or none
    std::cout << "all " << slots.limit() << " are ours\n";
    if (!slots.try_acquire()) {
      std::cout << "there is no fifth\n";
    }
    three.release();  // all three
    if (auto again = slots.try_acquire(2)) {
      std::cout << "two of them again, fence " << to_int(again->fence()) << '\n';
    }
    return 0;
  } catch (const holdfast::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

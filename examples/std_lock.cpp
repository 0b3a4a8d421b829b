// A holdfast::Mutex with the standard library's locks.
//
//   example_std_lock [STORE-URL]
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  try {
    holdfast::Client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::Mutex from{client, "account:1"};
    holdfast::Mutex to{client, "account:2"};
    {
      std::scoped_lock both{from, to};  // in either order, without a deadlock
      std::cout << "both are ours\n";
    }
    std::unique_lock lock{from, 5s};
    if (!lock) {
      std::cout << "not within five seconds\n";
      return 1;
    }
    // Unlike std::mutex, this one can be lost while it is locked.
    std::cout << (from.lease().valid() ? "still ours\n" : "lost\n");
    return 0;
  } catch (const holdfast::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

// Many readers or one writer, across processes.
//
//   example_shared_mutex [STORE-URL]
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <shared_mutex>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  try {
    holdfast::Client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::SharedMutex prices{client, "prices"};
    {
      holdfast::Lease writing = prices.acquire({.timeout = 5s});
      std::cout << "rewriting under fence " << to_int(writing.fence()) << '\n';
      // From here on others may read what was written; no writer gets in between.
      prices.downgrade(writing);
      std::cout << "checking what was written, beside other readers\n";
    }
    holdfast::Lease one = prices.acquire_shared({.timeout = 5s});
    std::shared_lock another{prices, 5s};
    if (!another) {
      std::cout << "a writer is inside, or waits\n";
      return 1;
    }
    // The lowest fence among those who are inside: what a guard lets pass.
    std::cout << "floor " << to_int(prices.shared_lease().floor()) << '\n';
    std::error_code ec;
    if (!prices.acquire({.timeout = 5s}, ec) && ec == holdfast::errc::would_deadlock) {
      std::cout << "there is no upgrade: a reader that waits to write waits for itself\n";
    }
    return 0;
  } catch (const holdfast::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

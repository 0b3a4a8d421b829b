#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  holdfast::Client client{argc > 1 ? argv[1] : "memory:"};
  holdfast::Mutex mutex{client, "consumer"};
  const holdfast::Lease lease = mutex.acquire({.timeout = 5s});
  std::cout << holdfast::version << ' ' << to_int(lease.fence()) << '\n';
  return lease.valid() ? 0 : 1;
}

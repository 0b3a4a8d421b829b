// A lock that the thread which has it may lock again.
//
//   example_recursive_mutex [STORE-URL]
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <mutex>

namespace {

void withdraw(holdfast::RecursiveMutex& account) {
  const std::scoped_lock inner{account};  // asks no store if this thread has it
  std::cout << "fence " << to_int(account.lease().fence()) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  try {
    holdfast::Client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::RecursiveMutex account{client, "account:1"};
    const std::scoped_lock outer{account};
    withdraw(account);
    withdraw(account);
    return 0;
  } catch (const holdfast::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

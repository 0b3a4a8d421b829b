// A service that owns its data in memory: its clients hand over the fence of their lease, and one
// that comes back too late is refused.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <map>
#include <mutex>
#include <string>

namespace {

class Accounts {
 public:
  // What a client's request does: check and write under one mutex.
  void set(const std::string& account, int balance, const holdfast::Stamp& stamp) {
    const std::scoped_lock lock(mutex_);
    guard_.admit(account, stamp.name, stamp.fence, stamp.floor);
    balances_[account] = balance;
  }
  int balance(const std::string& account) {
    const std::scoped_lock lock(mutex_);
    return balances_[account];
  }

 private:
  std::mutex mutex_{};
  holdfast::MemoryGuard guard_{};
  std::map<std::string, int> balances_{};
};

}  // namespace

int main() {
  try {
    Accounts accounts;
    holdfast::Client client{"memory:"};
    holdfast::Mutex mutex{client, "payout"};
    const holdfast::Stamp late = holdfast::stamp_of(mutex.acquire());  // released at once
    const holdfast::Lease lease = mutex.acquire();
    accounts.set("4711", 100, holdfast::stamp_of(lease));
    try {
      accounts.set("4711", 0, late);
    } catch (const holdfast::Error& error) {
      std::cout << "refused: " << error.what() << '\n';
    }
    std::cout << "balance " << accounts.balance("4711") << '\n';
    return accounts.balance("4711") == 100 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

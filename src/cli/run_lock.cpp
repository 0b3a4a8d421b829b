#include "cli/run_lock.hpp"

#include <holdfast/mutex.hpp>

#include <utility>

namespace holdfast::cli {

RunLock::RunLock(Client& client, const RunOptions& options) {
  if (options.once) {
    run_ = std::make_shared<OnceRun>(
        client, Once{options.name, *options.once, options.remember, options.lease});
    acquire_ = [run = run_](const Wait& wait) { return run->acquire(wait); };
  } else {
    const auto mutex = std::make_shared<Mutex>(client, options.name, options.lease);
    acquire_ = [mutex](const Wait& wait) { return mutex->acquire(wait); };
  }
}

void RunLock::give_back(Lease lease, bool succeeded, std::error_code& code) {
  if (run_ && succeeded) {
    run_->finish(std::move(lease), code);
  } else {
    lease.release(code);
  }
}

}  // namespace holdfast::cli

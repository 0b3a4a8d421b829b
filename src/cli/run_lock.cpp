#include "cli/run_lock.hpp"

#include <holdfast/election.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include <utility>

namespace holdfast::cli {

RunLock::RunLock(Client& client, const RunOptions& options) {
  if (options.once) {
    run_ = std::make_shared<OnceRun>(
        client, Once{options.name, *options.once, options.remember, options.lease});
    acquire_ = [run = run_](const Wait& wait) { return run->acquire(wait); };
  } else if (options.value) {
    const auto election = std::make_shared<Election>(client, options.name, options.lease);
    acquire_ = [election, value = *options.value](const Wait& wait) {
      return election->campaign(value, wait).take_lease();
    };
  } else if (options.limit != 0) {
    const auto slots =
        std::make_shared<Semaphore>(client, options.name, options.limit, options.lease);
    acquire_ = [slots, permits = options.permits](const Wait& wait) {
      return slots->acquire(wait, permits);
    };
  } else if (options.shared) {
    const auto mutex = std::make_shared<SharedMutex>(client, options.name, options.lease);
    acquire_ = [mutex](const Wait& wait) { return mutex->acquire_shared(wait); };
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

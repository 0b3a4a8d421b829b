// What `holdfast run` and `holdfast elect` hold while their command runs: a lock in one of its
// ways, a leadership, or a run of a job.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/run.hpp>

#include "cli/run_options.hpp"

#include <memory>

namespace holdfast::cli {

class RunLock {
 public:
  // Throws Error if the store cannot do what the options ask for.
  RunLock(Client& client, const RunOptions& options);

  Lease acquire(const Wait& wait) { return acquire_(wait); }
  // `succeeded`: the command has ended well, so a run of a job is done.
  void give_back(Lease lease, bool succeeded, std::error_code& code);

 private:
  UniqueFunction<Lease(const Wait&)> acquire_{};
  std::shared_ptr<OnceRun> run_{};  // unset: just a lock
};

}  // namespace holdfast::cli

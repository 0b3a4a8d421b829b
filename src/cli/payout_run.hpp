// One run of one case of `holdfast demo payout --matrix`: six processes, one fault.
#pragma once

#include "cli/payout_worker.hpp"
#include "cli/redis_pair.hpp"

#include <cstdint>

namespace holdfast::cli {

struct PayoutResult {
  std::int64_t paid = 0;
  std::int64_t double_payouts = 0;
  std::int64_t refused = 0;  // batches that a guard did not let through
};

// `plan.schema` must not exist; it is gone afterwards. `pair` is needed for PayoutFault::failover.
// Throws Error. Precondition: one thread.
PayoutResult play_payout_run(PayoutPlan plan, RedisPair* pair);

}  // namespace holdfast::cli

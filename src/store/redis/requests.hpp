// The request of each verb: which script, which keys, which arguments. Also what a benchmark sends
// by bare hiredis to have the same work done.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/store.hpp>

#include "store/redis/request.hpp"
#include "store/redis/settings.hpp"

#include <span>
#include <string>

namespace holdfast::redis {

// Times go out in milliseconds, rounded up: a lease of 100.2 ms is one of 101 ms.
Request acquire_request(const Claim& claim, bool queueing, const Settings& settings);
Request acquire_all_request(std::span<const Claim> claims, const Settings& settings);
Request renew_request(std::span<const Claim> claims, const Settings& settings);
Request amend_request(const Claim& claim, const Settings& settings);
Request withdraw_request(const Claim& claim, WithdrawOptions options, const Settings& settings);
Request break_request(const std::string& name, BreakMode mode, const Settings& settings);
Request inspect_request(const std::string& name, const Settings& settings);
// One step of SCAN over everything under the prefix. An empty cursor starts.
Request scan_request(const std::string& cursor, const Settings& settings);

}  // namespace holdfast::redis

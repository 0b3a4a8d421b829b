// The two requests of the hot path: an attempt and giving back. One round trip each.
#pragma once

#include <holdfast/claim.hpp>

#include "store/redis/request.hpp"
#include "store/redis/settings.hpp"

namespace holdfast::redis {

// Redis counts milliseconds; a time below one rounds up.
std::int64_t milliseconds_of(Duration duration);

Request acquire_request(const Claim& claim, bool queueing, const Settings& settings);
Request withdraw_request(const Claim& claim, WithdrawOptions options, const Settings& settings);

}  // namespace holdfast::redis

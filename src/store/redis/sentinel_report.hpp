// What an operator should know of the sentinels, from one sentinel's word.
#pragma once

#include <holdfast/claim.hpp>

#include "store/redis/sentinel_news.hpp"

#include <vector>

namespace holdfast::redis {

std::vector<Finding> judge_sentinels(const SentinelWord& word);

}  // namespace holdfast::redis

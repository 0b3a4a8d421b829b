#include "store/redis/sentinel_report.hpp"

#include <string>

namespace holdfast::redis {

namespace {

using Level = Finding::Level;

constexpr std::uint32_t sentinels_min = 3;  // of fewer no majority is left when one is gone

}  // namespace

std::vector<Finding> judge_sentinels(const SentinelWord& word) {
  std::vector<Finding> findings;
  const std::string count = std::to_string(word.sentinels);
  if (word.sentinels < sentinels_min) {
    findings.push_back(
        {Level::warning,
         (word.sentinels == 1 ? "one sentinel alone watches" : count + " sentinels watch") +
             std::string(" the primary: when one is gone nobody fails over"),
         "run at least three sentinels, on hosts of their own"});
  } else {
    findings.push_back({Level::good, count + " sentinels watch the primary", ""});
  }
  if (word.quorum > word.sentinels) {
    findings.push_back({Level::failure,
                        "the quorum is " + std::to_string(word.quorum) + " of " + count +
                            " sentinels: they will never agree that the primary is down",
                        "set a quorum of more than half: SENTINEL SET NAME quorum N"});
  } else if (word.quorum == 1 && word.sentinels > 1) {
    findings.push_back({Level::warning,
                        "the quorum is 1: one sentinel with a bad network may start a failover",
                        "set a quorum of more than half: SENTINEL SET NAME quorum N"});
  }
  if (word.replicas == 0) {
    findings.push_back({Level::warning, "there is no replica to fail over to",
                        "add a replica, or use redis:// for a server without failover"});
  }
  return findings;
}

}  // namespace holdfast::redis

// How many replicas must have a write before it counts: replica_acks= of the URL.
//
// Redis replicates behind the answer; WAIT tells how many replicas have what this connection wrote
// so far. A grant that no replica has is lost if the primary fails.
// https://redis.io/docs/latest/commands/wait/
#pragma once

#include <holdfast/types.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace holdfast::redis {

struct ReplicaAcks {
  enum class Kind : std::uint8_t { none, count, majority, all };
  Kind kind = Kind::none;
  std::uint32_t count = 0;
  Duration timeout = std::chrono::milliseconds{500};

  bool on() const noexcept { return kind != Kind::none; }
  // Of a primary with this many replicas. Majority: the primary and these are more than half of
  // all. At least one, so that a primary which lost all of its replicas cannot agree with itself.
  std::uint32_t wanted(std::uint32_t replicas) const noexcept {
    switch (kind) {
      case Kind::none:
        return 0;
      case Kind::count:
        return count;
      case Kind::majority:
        return std::max(1U, (replicas + 1) / 2);
      case Kind::all:
        return std::max(1U, replicas);
    }
    return 0;
  }
};

}  // namespace holdfast::redis

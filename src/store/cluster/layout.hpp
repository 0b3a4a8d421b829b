// The table of slots as one node tells it: the answer to CLUSTER SLOTS, taken apart.
#pragma once

#include "store/cluster/address.hpp"
#include "store/cluster/slot.hpp"
#include "store/redis/resp.hpp"

#include <optional>
#include <vector>

namespace holdfast::cluster {

struct SlotRange {
  Slot first = 0;
  Slot last = 0;  // included
  Address primary{};
  std::vector<Address> replicas{};
};
using Layout = std::vector<SlotRange>;

// CLUSTER SLOTS and not CLUSTER SHARDS: every version knows it, and each node stands in it the way
// that the operator wants it named (cluster-preferred-endpoint-type) and with the port that fits
// the connection (TLS or not). `answering` told it: a host that it leaves open is its own. nullopt:
// it has another shape. A range whose primary has no port is left out: nobody can be asked there.
std::optional<Layout> parse_layout(const redis::Reply& reply, const Address& answering);

}  // namespace holdfast::cluster

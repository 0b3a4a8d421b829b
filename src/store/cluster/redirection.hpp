// What an error reply of a node says about where a request belongs. Pure: text in, meaning out.
#pragma once

#include "store/cluster/address.hpp"
#include "store/cluster/slot.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::cluster {

struct Redirection {
  enum class Kind : std::uint8_t {
    none,      // an error like on any server: the caller's
    moved,     // `slot` belongs to `to` from now on
    ask,       // `slot` is moving: `to` has the keys already; this one time, with ASKING
    unstable,  // the slot is moving and its keys are on both nodes: again, after a moment
    trouble,   // the cluster or this node cannot serve it for now: again, after a look at the map
  };
  Kind kind = Kind::none;
  Slot slot = 0;
  Address to{};
  bool may_have_had_effect = false;  // a script that was ended half-way
};

// `answering`: the node that said so. A redirection that cannot be read is `trouble`.
Redirection parse_redirection(std::string_view error, const Address& answering);

}  // namespace holdfast::cluster

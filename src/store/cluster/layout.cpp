#include "store/cluster/layout.hpp"

namespace holdfast::cluster {

namespace {

// {endpoint (nil: the host that answered), port, id, …}
std::optional<Address> parse_node(const redis::Reply& node, const Address& answering) {
  return Address::from(node.at(0).text(), node.at(1).integer(), answering);
}

bool is_range(const redis::Reply& entry) {
  return entry.size() >= 3 && entry.at(0).is_integer() && entry.at(1).is_integer() &&
         entry.at(0).integer() >= 0 && entry.at(0).integer() <= entry.at(1).integer() &&
         entry.at(1).integer() < slot_count && entry.at(2).is_array();
}

}  // namespace

std::optional<Layout> parse_layout(const redis::Reply& reply, const Address& answering) {
  if (!reply.is_array()) {
    return std::nullopt;
  }
  Layout layout;
  for (std::size_t i = 0; i < reply.size(); ++i) {
    const redis::Reply entry = reply.at(i);
    if (!is_range(entry)) {
      return std::nullopt;
    }
    auto primary = parse_node(entry.at(2), answering);
    if (!primary) {
      continue;
    }
    SlotRange range{.first = static_cast<Slot>(entry.at(0).integer()),
                    .last = static_cast<Slot>(entry.at(1).integer()),
                    .primary = *std::move(primary)};
    for (std::size_t node = 3; node < entry.size(); ++node) {
      if (auto replica = parse_node(entry.at(node), answering)) {
        range.replicas.push_back(*std::move(replica));
      }
    }
    layout.push_back(std::move(range));
  }
  return layout;
}

}  // namespace holdfast::cluster

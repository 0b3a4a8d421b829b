// The verbs for people: inspect, list, break.
#include "store/cluster/cluster_store.hpp"

#include "store/redis/replies.hpp"
#include "store/redis/requests.hpp"
#include "store/redis/scan_page.hpp"

#include <algorithm>

namespace holdfast::cluster {

namespace {

// "127.0.0.1:7000 42": which primary is looked at, and how far; from the first one if it is empty.
struct Cursor {
  std::string node{};
  std::string position{};

  static Cursor parse(const std::string& text) {
    const auto space = text.rfind(' ');
    return space == std::string::npos
               ? Cursor{}
               : Cursor{.node = text.substr(0, space), .position = text.substr(space + 1)};
  }
};

}  // namespace

void ClusterStore::inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) {
  inspect_by(name, deadline(), std::move(done));
}

void ClusterStore::inspect_by(const std::string& name, Instant by,
                              UniqueFunction<void(InspectReply)> done) {
  router_.send(slot_of_name(name), redis::inspect_request(name, node_settings()), by,
               answer_with<InspectReply>(std::move(done), [name](const redis::Reply& reply) {
                 return redis::parse_inspected(reply, name);
               }));
}

void ClusterStore::break_name(const std::string& name, BreakMode mode,
                              UniqueFunction<void(BreakReply)> done) {
  router_.send(slot_of_name(name), redis::break_request(name, mode, node_settings()), deadline(),
               answer_with<BreakReply>(std::move(done), redis::parse_broken));
}

// ---- list --------------------------------------------------------------------------------------

void ClusterStore::list(const std::string& prefix, const std::string& cursor,
                        UniqueFunction<void(ListReply)> done) {
  const Instant by = deadline();
  router_.when_known(
      by, [this, prefix, cursor, by, done = std::move(done)](const Failed* failed) mutable {
        if (failed != nullptr) {
          done(*failed);
        } else {
          scan(prefix, cursor, by, std::move(done));
        }
      });
}

void ClusterStore::scan(const std::string& prefix, const std::string& cursor, Instant by,
                        UniqueFunction<void(ListReply)> done) {
  const std::vector<Address> nodes = router_.map().primaries();
  const Cursor at = Cursor::parse(cursor);
  const auto node =
      at.node.empty() ? nodes.begin() : std::ranges::find(nodes, at.node, &Address::text);
  if (node == nodes.end()) {
    done(Failed{errc::store_unavailable, false,
                "the cluster changed while it was listed: list it again from the start"});
    return;
  }
  const std::string after = std::next(node) == nodes.end() ? "" : std::next(node)->text() + " 0";
  using Scanned = std::variant<redis::ScanPage, Failed>;
  UniqueFunction<void(Scanned)> go_on = [this, by, here = node->text(), after,
                                         done = std::move(done)](Scanned scanned) mutable {
    if (auto* failed = std::get_if<Failed>(&scanned)) {
      done(std::move(*failed));
      return;
    }
    auto& page = std::get<redis::ScanPage>(scanned);
    page.cursor = page.cursor.empty() ? after : here + " " + page.cursor;
    redis::look_at_names(
        page, std::move(done),
        [this, by](const std::string& name, UniqueFunction<void(InspectReply)> see) {
          inspect_by(name, by, std::move(see));
        });
  };
  router_.send_to(*node, redis::scan_request(at.position, node_settings()), by,
                  answer_with<Scanned>(std::move(go_on), [this, prefix](const redis::Reply& reply) {
                    return redis::parse_scan(reply, node_settings().keys, prefix);
                  }));
}

}  // namespace holdfast::cluster

// Where a node of a cluster is, as nodes tell of each other: an address or a host name, and a port.
//
//   Address::parse("::1:7001", {"10.0.0.1", 7000});  // {"::1", 7001}: no brackets
//   Address::parse(":7001", {"10.0.0.1", 7000});     // {"10.0.0.1", 7001}: the host that answered
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cluster {

struct Address {
  std::string host{};  // no brackets
  std::uint16_t port = 0;

  auto operator<=>(const Address&) const = default;
  std::string text() const;  // "db1:7000", "[::1]:7000"

  // Of a redirection: what stands before the last colon is the host. `answering` is the node that
  // said so: a host that it does not know (empty, or "?") is its own.
  static std::optional<Address> parse(std::string_view text, const Address& answering);

  // Of a table of nodes; as above, port 0 is no node that can be reached.
  static std::optional<Address> from(std::string_view host, std::int64_t port,
                                     const Address& answering);
};

}  // namespace holdfast::cluster

#include "store/cluster/address.hpp"

#include <charconv>

namespace holdfast::cluster {

namespace {

constexpr std::int64_t port_max = 65535;
constexpr std::size_t host_size_max = 253;

bool may_be_a_host(std::string_view host) {
  for (const char c : host) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') {
      return false;
    }
  }
  return host.size() <= host_size_max;
}

}  // namespace

std::string Address::text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<Address> Address::from(std::string_view host, std::int64_t port,
                                     const Address& answering) {
  if (port <= 0 || port > port_max || !may_be_a_host(host)) {
    return std::nullopt;
  }
  if (host.size() > 2 && host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  const bool unknown = host.empty() || host == "?";
  return Address{.host = unknown ? answering.host : std::string(host),
                 .port = static_cast<std::uint16_t>(port)};
}

std::optional<Address> Address::parse(std::string_view text, const Address& answering) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  std::int64_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return from(text.substr(0, colon), port, answering);
}

}  // namespace holdfast::cluster

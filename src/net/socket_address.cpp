#include "net/socket_address.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace holdfast::net {

namespace {

std::optional<std::uint32_t> zone_number(const std::string& zone) {
  if (const unsigned index = if_nametoindex(zone.c_str()); index != 0) return index;
  std::uint32_t number = 0;
  const char* end = zone.data() + zone.size();
  const auto [stop, failure] = std::from_chars(zone.data(), end, number);
  if (failure != std::errc{} || stop != end || number == 0) return std::nullopt;
  return number;
}

template <class Address>
SocketAddress wrap(const Address& address) {
  return SocketAddress(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

}  // namespace

SocketAddress::SocketAddress(const sockaddr* address, socklen_t size)
    : size_(std::min<socklen_t>(size, sizeof storage_)) {
  std::memcpy(&storage_, address, size_);
}

std::optional<SocketAddress> SocketAddress::from_literal(std::string_view host,
                                                         std::uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  if (inet_pton(AF_INET, std::string(host).c_str(), &v4.sin_addr) == 1) return wrap(v4);

  const std::size_t percent = host.find('%');
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (inet_pton(AF_INET6, std::string(host.substr(0, percent)).c_str(), &v6.sin6_addr) != 1) {
    return std::nullopt;
  }
  if (percent != std::string_view::npos) {
    const auto zone = zone_number(std::string(host.substr(percent + 1)));
    if (!zone) return std::nullopt;
    v6.sin6_scope_id = *zone;
  }
  return wrap(v6);
}

std::optional<SocketAddress> SocketAddress::from_unix_path(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  return wrap(address);
}

std::string SocketAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> digits{};
  if (family() == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage_, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, digits.data(), digits.size());
    return std::string(digits.data()) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  if (family() == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage_, sizeof v6);
    inet_ntop(AF_INET6, &v6.sin6_addr, digits.data(), digits.size());
    return "[" + std::string(digits.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  sockaddr_un local{};
  std::memcpy(&local, &storage_, sizeof local);
  local.sun_path[sizeof local.sun_path - 1] = '\0';
  return local.sun_path;
}

bool is_ip_literal(std::string_view host) {
  in6_addr address{};
  const std::string text(host.substr(0, host.find('%')));
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

}  // namespace holdfast::net

// A socket address of any family, and what people call it.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::net {

class SocketAddress {
 public:
  // An IPv4 or IPv6 literal without brackets; an IPv6 zone is an interface's name or number. None
  // when `host` is not a literal, or names a zone that this host does not have.
  static std::optional<SocketAddress> from_literal(std::string_view host, std::uint16_t port);

  // None when the path does not fit into a socket address (107 bytes).
  static std::optional<SocketAddress> from_unix_path(std::string_view path);

  // `size` bytes at `address`, as the resolver and the kernel give them.
  SocketAddress(const sockaddr* address, socklen_t size);

  const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const noexcept { return size_; }
  int family() const noexcept { return storage_.ss_family; }
  std::string text() const;  // "[::1]:6379", "127.0.0.1:6379", "/run/redis.sock"

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

// Whether `host` is written as an address: no lookup, no SNI, the certificate must name it.
bool is_ip_literal(std::string_view host);

}  // namespace holdfast::net

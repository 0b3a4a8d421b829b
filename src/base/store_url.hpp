// The URL that names a store, taken apart. Knows the grammar, not what a scheme means: which parts
// and options are needed or allowed is said by the store that it names.
//
//   StoreUrl url = StoreUrl::parse("redis://app:s%2Fcret@[::1]:6379,db2/0?prefix=lock:");
//   url.scheme == "redis"; url.user == "app"; url.password == "s/cret"; url.hosts.size() == 2;
//
//   scheme "://" [user [":" password] "@"] [host [":" port] {"," host [":" port]}] [path]
//       ["?" key "=" value {"&" key "=" value}]
//   scheme ":" path ["?" …]                                        memory:NAME
//
// A host is a name, an IPv4 address, an IPv6 address in brackets (with a zone: [fe80::1%eth0]), or
// a bare IPv6 address without a port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast {

struct StoreUrl {
  struct Host {
    std::string name{};  // no brackets; an IPv6 zone as in fe80::1%eth0
    std::optional<std::uint16_t> port{};

    bool operator==(const Host&) const = default;
  };

  std::string scheme{};
  std::string user{};      // percent-decoded, as are password, path and query
  std::string password{};  // empty: none was given
  std::vector<Host> hosts{};
  std::string path{};  // with its leading slash, if there is one
  std::vector<std::pair<std::string, std::string>> query{};  // in order, each key once

  // Throws Error{invalid_url} that names the offending part, never a password.
  static StoreUrl parse(std::string_view text);

  // The value of a query parameter; null when it was not given.
  const std::string* option(std::string_view key) const noexcept;

  // An equal URL for people, logs and child processes.
  std::string text_without_password() const;
};

}  // namespace holdfast

// What a redis+sentinel:// URL says of the sentinels and of the primary that they watch.
#pragma once

#include "base/store_url.hpp"
#include "net/stream.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::redis {

struct SentinelSettings {
  // Throws Error{invalid_url} that names the offending part, Error{invalid_options} for a password
  // file that cannot be read. `tls`: for the sentinels and the primary; null: plain.
  SentinelSettings(const StoreUrl& url, std::shared_ptr<const net::TlsClient> tls);

  std::vector<net::Endpoint> sentinels{};
  std::string name;  // of the primary
  std::string user;  // for the sentinels themselves
  std::string password{};
  std::string place;  // for people: "mymaster of Sentinel at s1:26379,s2:26379"
  std::shared_ptr<const net::TlsClient> tls;

  net::Endpoint primary_at(const std::string& host, std::uint16_t port) const;
};

}  // namespace holdfast::redis

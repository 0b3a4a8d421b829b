// What a redis:// or redis+sentinel:// URL says. Shared by all stores of one factory.
#pragma once

#include <holdfast/types.hpp>

#include "base/store_url.hpp"
#include "net/stream.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/sentinel_settings.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::redis {

struct Settings {
  // Throws Error{invalid_url} that names the offending part. A password in `password` counts before
  // the URL's.
  Settings(const StoreUrl& url, const std::string& password);

  RedisKeys keys;
  std::shared_ptr<const net::TlsClient> tls;  // null: plain
  std::optional<SentinelSettings> sentinel;   // says where the primary is
  net::Endpoint endpoint;                     // where it is, otherwise
  std::string client_id;                      // random: names the wake-up channel of this client
  std::string channel_base;                   // what the scripts put before a client id
  Duration op_timeout;
  Connection::Options commands;  // for connections that carry requests
  Connection::Options wakes;     // for the one that listens
};

}  // namespace holdfast::redis

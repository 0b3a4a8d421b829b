#include "store/redis/settings.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "base/hex.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr std::uint16_t default_port = 6379;
constexpr int database_max = 1'000'000;
constexpr std::size_t client_id_size = 16;

[[noreturn]] void refuse(const std::string& what) { throw Error{errc::invalid_url, what}; }

std::string text_option(const StoreUrl& url, std::string_view key, std::string_view otherwise) {
  const std::string* value = url.option(key);
  return value == nullptr ? std::string(otherwise) : *value;
}

void refuse_unknown_options(const StoreUrl& url) {
  const bool tls = url.scheme == "rediss";
  for (const auto& [key, value] : url.query) {
    const bool known = key == "prefix" || key == "op_timeout" || key == "password_file" ||
                       (tls && (key == "tls_ca" || key == "tls_name")) ||
                       (url.scheme == "redis+unix" && key == "db");
    if (!known) {
      refuse("'" + key + "' is not an option of " + url.scheme + "://");
    }
  }
}

int database_of(const StoreUrl& url) {
  const bool unix_socket = url.scheme == "redis+unix";
  std::string digits = unix_socket ? text_option(url, "db", "0") : url.path;
  if (!unix_socket && digits.starts_with('/')) {
    digits.erase(0, 1);
  }
  if (digits.empty()) {
    return 0;
  }
  int database = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), database);
  if (error != std::errc{} || end != digits.data() + digits.size() || database < 0 ||
      database > database_max) {
    refuse("'" + digits + "' is not a database number");
  }
  return database;
}

net::Endpoint endpoint_of(const StoreUrl& url) {
  net::Endpoint endpoint;
  if (url.scheme == "redis+unix") {
    if (url.path.size() < 2 || !url.hosts.empty()) {
      refuse("redis+unix:// needs the path of a socket: redis+unix:///run/redis.sock");
    }
    endpoint.unix_path = url.path;
    return endpoint;
  }
  if (url.scheme != "redis" && url.scheme != "rediss") {
    refuse("'" + url.scheme + "' is not a scheme of the Redis store");
  }
  if (url.hosts.size() != 1) {
    refuse(url.scheme + ":// takes exactly one server");
  }
  endpoint.host = url.hosts.front().name;
  endpoint.port = url.hosts.front().port.value_or(default_port);
  if (url.scheme == "rediss") {
    endpoint.tls = std::make_shared<net::TlsClient>(net::TlsOptions{
        .ca_file = text_option(url, "tls_ca", ""), .name = text_option(url, "tls_name", "")});
  }
  return endpoint;
}

RedisKeys keys_of(const StoreUrl& url) {
  std::string prefix = text_option(url, "prefix", "lock:");
  if (const std::string why = why_invalid_prefix(prefix); !why.empty()) {
    refuse("the prefix " + why);
  }
  return RedisKeys{std::move(prefix)};
}

Duration op_timeout_of(const StoreUrl& url) {
  const std::string text = text_option(url, "op_timeout", "2s");
  const auto timeout = parse_duration(text);
  if (!timeout || *timeout < std::chrono::milliseconds{10} || *timeout > std::chrono::minutes{1}) {
    refuse("op_timeout '" + text + "' is not a time between 10ms and 1m");
  }
  return *timeout;
}

std::string make_client_id() {
  std::array<std::uint8_t, client_id_size> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Error{errc::store_unavailable, "the kernel gives no random bytes"};
  }
  return to_hex(bytes);
}

}  // namespace

Settings::Settings(const StoreUrl& url, const std::string& password)
    : keys(keys_of(url)),
      endpoint(endpoint_of(url)),
      client_id(make_client_id()),
      channel_base(keys.channel_base()),
      op_timeout(op_timeout_of(url)),
      commands{.place = {.server = endpoint.text(), .user = url.user, .prefix = keys.prefix()},
               .password = password.empty() ? url.password : password,
               .database = database_of(url),
               .channel = keys.channel(client_id),
               .op_timeout = op_timeout},
      wakes(commands) {
  refuse_unknown_options(url);
  wakes.subscriber = true;
}

}  // namespace holdfast::redis

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

bool by_sentinel(const StoreUrl& url) { return url.scheme.ends_with("+sentinel"); }
bool with_tls(const StoreUrl& url) { return url.scheme.starts_with("rediss"); }

void refuse_unknown_options(const StoreUrl& url) {
  for (const auto& [key, value] : url.query) {
    const bool known =
        key == "prefix" || key == "op_timeout" || key == "password_file" || key == "replica_acks" ||
        key == "replica_timeout" || (with_tls(url) && (key == "tls_ca" || key == "tls_name")) ||
        (url.scheme == "redis+unix" && key == "db") ||
        (by_sentinel(url) && (key == "sentinel_user" || key == "sentinel_password_file"));
    if (!known) {
      refuse("'" + key + "' is not an option of " + url.scheme + "://");
    }
  }
}

int database_of(const StoreUrl& url) {
  const bool unix_socket = url.scheme == "redis+unix";
  std::string digits = unix_socket ? text_option(url, "db", "0") : url.path;
  if (by_sentinel(url)) {  // /mymaster/0
    const std::size_t second = digits.find('/', 1);
    digits.erase(0, second);
  }
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

std::shared_ptr<const net::TlsClient> tls_of(const StoreUrl& url) {
  if (!with_tls(url)) {
    return nullptr;
  }
  return std::make_shared<net::TlsClient>(net::TlsOptions{
      .ca_file = text_option(url, "tls_ca", ""), .name = text_option(url, "tls_name", "")});
}

std::optional<SentinelSettings> sentinel_of(const StoreUrl& url,
                                            std::shared_ptr<const net::TlsClient> tls) {
  if (!by_sentinel(url)) {
    return std::nullopt;
  }
  return std::make_optional<SentinelSettings>(url, std::move(tls));
}

net::Endpoint endpoint_of(const StoreUrl& url, std::shared_ptr<const net::TlsClient> tls) {
  net::Endpoint endpoint;
  if (by_sentinel(url)) {
    return endpoint;
  }
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
  endpoint.tls = std::move(tls);
  return endpoint;
}

RedisKeys keys_of(const StoreUrl& url) {
  std::string prefix = text_option(url, "prefix", "lock:");
  if (const std::string why = why_invalid_prefix(prefix); !why.empty()) {
    refuse("the prefix " + why);
  }
  return RedisKeys{std::move(prefix)};
}

Duration time_option(const StoreUrl& url, const std::string& key, const char* otherwise) {
  const std::string text = text_option(url, key, otherwise);
  const auto time = parse_duration(text);
  if (!time || *time < std::chrono::milliseconds{10} || *time > std::chrono::minutes{1}) {
    refuse(key + " '" + text + "' is not a time between 10ms and 1m");
  }
  return *time;
}

ReplicaAcks acks_of(const StoreUrl& url, Duration op_timeout) {
  ReplicaAcks acks;
  const std::string text = text_option(url, "replica_acks", "0");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), acks.count);
  if (text == "majority") {
    acks.kind = ReplicaAcks::Kind::majority;
  } else if (text == "all") {
    acks.kind = ReplicaAcks::Kind::all;
  } else if (error != std::errc{} || end != text.data() + text.size() || acks.count > 1000) {
    refuse("replica_acks '" + text + "' is not a number of replicas, majority or all");
  } else {
    acks.kind = acks.count == 0 ? ReplicaAcks::Kind::none : ReplicaAcks::Kind::count;
  }
  acks.timeout = time_option(url, "replica_timeout", "500ms");
  if (acks.on() && acks.timeout >= op_timeout) {
    refuse("replica_timeout must be shorter than op_timeout (" + duration_text(op_timeout) + ")");
  }
  return acks;
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
      tls(tls_of(url)),
      sentinel(sentinel_of(url, tls)),
      endpoint(endpoint_of(url, tls)),
      client_id(make_client_id()),
      channel_base(keys.channel_base()),
      op_timeout(time_option(url, "op_timeout", "2s")),
      commands{.place = {.server = sentinel ? sentinel->place : endpoint.text(),
                         .user = url.user,
                         .prefix = keys.prefix()},
               .password = password.empty() ? url.password : password,
               .database = database_of(url),
               .channel = keys.channel(client_id),
               .op_timeout = op_timeout,
               .must_be_primary = sentinel.has_value(),
               .acks = acks_of(url, op_timeout)},
      wakes(commands) {
  refuse_unknown_options(url);
  wakes.subscriber = true;
}

}  // namespace holdfast::redis

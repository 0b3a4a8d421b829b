#include "store/cluster/settings.hpp"

#include <holdfast/error.hpp>

#include <utility>

namespace holdfast::cluster {

namespace {

constexpr std::uint16_t default_port = 6379;

[[noreturn]] void refuse(const std::string& what) { throw Error{errc::invalid_url, what}; }

std::vector<Address> seeds_of(const StoreUrl& url) {
  if (url.scheme != "redis+cluster" && url.scheme != "rediss+cluster") {
    refuse("'" + url.scheme + "' is not a scheme of the Redis Cluster store");
  }
  if (url.hosts.empty()) {
    refuse(url.scheme + ":// needs at least one node: " + url.scheme + "://n1:7000,n2,n3");
  }
  if (!url.path.empty() && url.path != "/" && url.path != "/0") {
    refuse("a Redis Cluster has database 0 only, not '" + url.path.substr(1) + "'");
  }
  // A port stands for the nodes after it too, as in n1:7000,n2,n3.
  std::vector<Address> seeds;
  std::uint16_t port = default_port;
  for (const StoreUrl::Host& host : url.hosts) {
    port = host.port.value_or(port);
    seeds.push_back({.host = host.name, .port = port});
  }
  return seeds;
}

void refuse_unknown_options(const StoreUrl& url) {
  const bool tls = url.scheme == "rediss+cluster";
  for (const auto& [key, value] : url.query) {
    const bool known = key == "prefix" || key == "op_timeout" || key == "password_file" ||
                       (tls && (key == "tls_ca" || key == "tls_name"));
    if (!known) {
      refuse("'" + key + "' is not an option of " + url.scheme + "://");
    }
  }
}

// The URL of the first seed alone.
StoreUrl of_one_node(const StoreUrl& url, const Address& seed) {
  refuse_unknown_options(url);
  StoreUrl one = url;
  one.scheme = url.scheme == "rediss+cluster" ? "rediss" : "redis";
  one.hosts = {{.name = seed.host, .port = seed.port}};
  one.path.clear();
  return one;
}

}  // namespace

Settings::Settings(const StoreUrl& url, const std::string& password)
    : seeds(seeds_of(url)), any_node(of_one_node(url, seeds.front()), password) {
  any_node.commands.raw_errors = true;
}

std::shared_ptr<const redis::Settings> Settings::of_node(const Address& node) const {
  auto settings = std::make_shared<redis::Settings>(any_node);
  settings->endpoint.host = node.host;
  settings->endpoint.port = node.port;
  settings->commands.place.server = settings->endpoint.text();
  settings->wakes.place.server = settings->endpoint.text();
  return settings;
}

}  // namespace holdfast::cluster

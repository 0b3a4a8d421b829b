#include "store/redis/sentinel_settings.hpp"

#include <holdfast/error.hpp>

#include <fstream>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr std::uint16_t default_port = 26379;

std::string name_of(const StoreUrl& url) {
  const std::size_t end = url.path.find('/', 1);
  std::string name = url.path.empty() ? "" : url.path.substr(1, end - 1);
  if (name.empty() || name.find(' ') != std::string::npos) {
    throw Error{errc::invalid_url, url.scheme +
                                       ":// needs the name of the primary as Sentinel has "
                                       "it: " +
                                       url.scheme + "://s1:26379,s2,s3/mymaster"};
  }
  return name;
}

std::string first_line_of(const std::string& file) {
  std::ifstream stream{file};
  std::string line;
  if (!std::getline(stream, line)) {
    throw Error{errc::invalid_options, "sentinel_password_file cannot be read: " + file};
  }
  return line;
}

}  // namespace

SentinelSettings::SentinelSettings(const StoreUrl& url, std::shared_ptr<const net::TlsClient> tls_)
    : name(name_of(url)), tls(std::move(tls_)) {
  if (url.hosts.empty()) {
    throw Error{errc::invalid_url, url.scheme + ":// needs at least one sentinel: " + url.scheme +
                                       "://s1:26379,s2,s3/mymaster"};
  }
  for (const StoreUrl::Host& host : url.hosts) {
    net::Endpoint sentinel = primary_at(host.name, host.port.value_or(default_port));
    place += (place.empty() ? "" : ",") + sentinel.text();
    sentinels.push_back(std::move(sentinel));
  }
  place = name + " of Sentinel at " + place;
  if (const std::string* given = url.option("sentinel_user")) {
    user = *given;
  }
  if (const std::string* file = url.option("sentinel_password_file")) {
    password = first_line_of(*file);
  }
  if (!user.empty() && password.empty()) {
    throw Error{errc::invalid_url, "sentinel_user= needs a sentinel_password_file="};
  }
}

net::Endpoint SentinelSettings::primary_at(const std::string& host, std::uint16_t port) const {
  net::Endpoint endpoint;
  endpoint.host = host;
  endpoint.port = port;
  endpoint.tls = tls;
  return endpoint;
}

}  // namespace holdfast::redis

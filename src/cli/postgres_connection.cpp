#include "cli/postgres_connection.hpp"

#include <holdfast/error.hpp>
#include <holdfast/version.hpp>

#include "base/store_url.hpp"
#include "client/module_file.hpp"
#include "client/password.hpp"
#include "module/postgres_module.hpp"

#include <algorithm>
#include <string_view>

namespace holdfast::cli {

namespace {

const PostgresModule& postgres_module() {
  const auto& found = *static_cast<const PostgresModule*>(module_symbol(
      {"holdfast-postgres.so", "PostgreSQL", "holdfast-postgres"}, "holdfast_postgres_module"));
  if (std::string_view{found.version} != version) {
    throw Error{errc::unsupported, "the PostgreSQL module is of version " +
                                       std::string{found.version} + ", this command of " + version};
  }
  return found;
}

using Settings = std::vector<std::pair<std::string, std::string>>;

void add_hosts(Settings& settings, const StoreUrl& url) {
  std::string hosts;
  std::string ports;
  for (const StoreUrl::Host& host : url.hosts) {
    hosts += (hosts.empty() ? "" : ",") + host.name;
    ports += (&host == &url.hosts.front() ? "" : ",") +
             (host.port ? std::to_string(*host.port) : std::string{});
  }
  settings.emplace_back("host", hosts);
  settings.emplace_back("port", ports);
}

Settings settings_of(const StoreUrl& url) {
  Settings settings{{"application_name", "holdfast"}, {"connect_timeout", "10"}};
  if (!url.hosts.empty()) {
    add_hosts(settings, url);
  }
  if (!url.user.empty()) {
    settings.emplace_back("user", url.user);
  }
  if (url.path.size() > 1) {
    settings.emplace_back("dbname", url.path.substr(1));
  }
  if (const std::string password = password_for(url, {}); !password.empty()) {
    settings.emplace_back("password", password);
  }
  for (const auto& [key, value] : url.query) {
    if (key != "password_file") {
      settings.emplace_back(key, value);
    }
  }
  return settings;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::unique_ptr<PostgresSession> connect_postgres(const std::string& url) {
  PostgresConnection made = postgres_module().connect(settings_of(StoreUrl::parse(url)));
  if (made.session == nullptr) {
    const bool denied = made.failure.sqlstate.starts_with("28");
    throw Error{denied ? errc::access_denied : errc::store_unavailable,
                one_line(made.failure.message)};
  }
  return std::move(made.session);
}

}  // namespace holdfast::cli

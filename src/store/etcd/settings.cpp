#include "store/etcd/settings.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace holdfast::etcd {

namespace {

constexpr int default_port = 2379;

[[noreturn]] void refuse(const std::string& what) { throw Error{errc::invalid_url, what}; }

std::string text_option(const StoreUrl& url, std::string_view key, std::string_view otherwise) {
  const std::string* value = url.option(key);
  return value == nullptr ? std::string(otherwise) : *value;
}

std::string file_option(const StoreUrl& url, std::string_view key) {
  const std::string* path = url.option(key);
  if (path == nullptr) {
    return {};
  }
  std::ifstream file(*path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) {
    refuse(std::string{key} + ": cannot read '" + *path + "'");
  }
  return text.str();
}

std::vector<std::string> endpoints_of(const StoreUrl& url) {
  if (url.hosts.empty()) {
    refuse("etcd:// needs a server: etcd://HOST:2379");
  }
  if (!url.path.empty() && url.path != "/") {
    refuse("etcd:// takes no path; keys get a prefix by prefix=");
  }
  std::vector<std::string> all;
  for (const StoreUrl::Host& host : url.hosts) {
    const bool bare_v6 = host.name.find(':') != std::string::npos;
    all.push_back((bare_v6 ? "[" + host.name + "]" : host.name) + ":" +
                  std::to_string(host.port.value_or(default_port)));
  }
  return all;
}

std::string place_of(const std::vector<std::string>& endpoints) {
  std::string text;
  for (const std::string& endpoint : endpoints) {
    text += (text.empty() ? "" : ",") + endpoint;
  }
  return text;
}

std::string prefix_of(const StoreUrl& url) {
  std::string prefix = text_option(url, "prefix", "");
  constexpr std::size_t prefix_max = 256;
  const bool plain = std::ranges::all_of(
      prefix, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; });
  if (prefix.size() > prefix_max || !plain) {
    refuse("the prefix holds a control character or a space, or is longer than 256 bytes");
  }
  return prefix;
}

Duration op_timeout_of(const StoreUrl& url) {
  const std::string text = text_option(url, "op_timeout", "2s");
  const auto timeout = parse_duration(text);
  if (!timeout || *timeout < std::chrono::milliseconds{10} || *timeout > std::chrono::minutes{1}) {
    refuse("op_timeout '" + text + "' is not a time between 10ms and 1m");
  }
  return *timeout;
}

bool tls_of(const StoreUrl& url) {
  const std::string text = text_option(url, "tls", "");
  if (!text.empty() && text != "on" && text != "off") {
    refuse("tls is 'on' or 'off', not '" + text + "'");
  }
  bool named = false;
  for (const char* key : {"tls_ca", "tls_cert", "tls_key", "tls_name"}) {
    named = named || url.option(key) != nullptr;
  }
  if (named && text == "off") {
    refuse("tls=off beside other tls_ options");
  }
  if ((url.option("tls_cert") == nullptr) != (url.option("tls_key") == nullptr)) {
    refuse("tls_cert and tls_key go together");
  }
  return named || text == "on";
}

void refuse_unknown_options(const StoreUrl& url) {
  constexpr std::array<std::string_view, 8> known{
      "prefix", "op_timeout", "password_file", "tls", "tls_ca", "tls_cert", "tls_key", "tls_name"};
  for (const auto& [key, value] : url.query) {
    if (std::ranges::find(known, key) == known.end()) {
      refuse("'" + key + "' is not an option of etcd://");
    }
  }
}

}  // namespace

Settings::Settings(const StoreUrl& url, const std::string& given)
    : endpoints(endpoints_of(url)),
      place("etcd at " + place_of(endpoints)),
      user(url.user),
      password(given.empty() ? url.password : given),
      keys(prefix_of(url)),
      op_timeout(op_timeout_of(url)),
      tls(tls_of(url)),
      tls_ca(file_option(url, "tls_ca")),
      tls_cert(file_option(url, "tls_cert")),
      tls_key(file_option(url, "tls_key")),
      tls_name(text_option(url, "tls_name", "")) {
  refuse_unknown_options(url);
  if (!user.empty() && password.empty()) {
    throw Error{errc::access_denied, "user '" + user +
                                         "' has no password; set HOLDFAST_PASSWORD, "
                                         "HOLDFAST_PASSWORD_FILE or password_file="};
  }
}

}  // namespace holdfast::etcd

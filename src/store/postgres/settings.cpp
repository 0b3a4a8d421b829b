#include "store/postgres/settings.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "base/hex.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>

namespace holdfast::postgres {

namespace {

constexpr std::size_t client_id_size = 16;

[[noreturn]] void refuse(const std::string& what) { throw Error{errc::invalid_url, what}; }

bool is_ours(std::string_view key) {
  return key == "mode" || key == "op_timeout" || key == "password_file" || key == "listen" ||
         key == "pooler";
}

// Each of these would undo what the store relies on, or has a place of its own in the URL.
void refuse_what_is_not_an_option(const StoreUrl& url) {
  constexpr std::array refused{"hostaddr", "port",    "dbname",          "user",
                               "password", "options", "connect_timeout", "replication"};
  for (const auto& [key, value] : url.query) {
    if (std::find(refused.begin(), refused.end(), key) != refused.end()) {
      refuse("'" + key + "' is not an option of postgres://");
    }
    if (key == "host" && (!url.hosts.empty() || !value.starts_with('/'))) {
      refuse("host= is for the directory of a unix socket: postgres:///app?host=/run/postgresql");
    }
  }
}

Target target_of(const StoreUrl& url, const std::string& password) {
  if (url.scheme != "postgres" && url.scheme != "postgresql") {
    refuse("'" + url.scheme + "' is not a scheme of the PostgreSQL store");
  }
  refuse_what_is_not_an_option(url);
  Target target;
  for (const StoreUrl::Host& host : url.hosts) {
    target.hosts.push_back({host.name, host.port.value_or(5432)});
  }
  auto& settings = target.settings;
  for (const auto& [key, value] : url.query) {
    if (key == "host") {
      target.hosts.push_back({value, 5432});
    } else if (!is_ours(key)) {
      settings.emplace_back(key, value);
    }
  }
  if (target.hosts.empty()) {
    target.hosts.push_back({});
  }
  if (!url.user.empty()) {
    settings.emplace_back("user", url.user);
  }
  if (url.path.size() > 1) {
    settings.emplace_back("dbname", url.path.substr(1));
  }
  const std::string& secret = password.empty() ? url.password : password;
  if (!secret.empty()) {
    settings.emplace_back("password", secret);
  }
  const auto add = [&](const char* key, const std::string& value) {
    if (url.option(key) == nullptr) {
      settings.emplace_back(key, value);
    }
  };
  add("application_name", "holdfast");
  add("gssencmode", "disable");  // looking for a ticket can block
  add("target_session_attrs", "read-write");
  add("tcp_user_timeout", "10000");
  settings.emplace_back("client_encoding", "UTF8");
  return target;
}

LockMode mode_of(const StoreUrl& url) {
  const std::string* mode = url.option("mode");
  if (mode == nullptr || *mode == "lease") {
    return LockMode::lease;
  }
  if (*mode == "advisory") {
    return LockMode::advisory;
  }
  refuse("mode=" + *mode + " is neither lease nor advisory");
}

Duration op_timeout_of(const StoreUrl& url) {
  const std::string* text = url.option("op_timeout");
  const auto timeout = parse_duration(text == nullptr ? "2s" : *text);
  if (!timeout || *timeout < std::chrono::milliseconds{10} || *timeout > std::chrono::minutes{1}) {
    refuse("op_timeout '" + *text + "' is not a time between 10ms and 1m");
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

std::string Target::text() const {
  std::string text;
  for (const Host& host : hosts) {
    text += text.empty() ? "" : ",";
    text += host.is_socket() ? "local socket " + host.name
                             : host.name + ":" + std::to_string(host.port);
  }
  return "PostgreSQL at " + text;
}

Settings::Settings(const StoreUrl& url, const std::string& password)
    : mode(mode_of(url)),
      op_timeout(op_timeout_of(url)),
      server(target_of(url, password)),
      client_id(make_client_id()) {
  if (const std::string* pooler = url.option("pooler")) {
    if (*pooler != "session") {
      refuse("pooler=" + *pooler + ": only pooler=session makes a difference");
    }
    pooler_keeps_sessions = true;
  }
  if (const std::string* other = url.option("listen")) {
    if (mode == LockMode::advisory) {
      refuse("listen= is for mode=lease: advisory locks have no wake-ups");
    }
    const StoreUrl parsed = StoreUrl::parse(*other);
    listen = target_of(parsed, parsed.password.empty() ? password : parsed.password);
  }
}

}  // namespace holdfast::postgres

// What a postgres:// URL says. Shared by all stores of one factory.
#pragma once

#include <holdfast/types.hpp>

#include "base/store_url.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::postgres {

// A server, and all that libpq is told beside its address.
struct Target {
  struct Host {
    std::string name{};  // a path: the directory of a unix socket
    std::uint16_t port = 5432;
    bool is_socket() const { return name.empty() || name.starts_with('/'); }
  };
  std::vector<Host> hosts{};
  std::vector<std::pair<std::string, std::string>> settings{};

  std::string text() const;  // "db1:5432/app", for people
};

enum class LockMode : std::uint8_t { lease, advisory };

struct Settings {
  // Throws Error{invalid_url} that names the offending part. A password in `password` counts before
  // the URL's.
  Settings(const StoreUrl& url, const std::string& password);

  LockMode mode = LockMode::lease;
  Duration op_timeout;
  Target server{};
  std::optional<Target> listen{};      // where LISTEN works, if not at `server`
  bool pooler_keeps_sessions = false;  // as the URL says
  std::string client_id{};             // random: names the channel of this client

  std::string channel() const { return "holdfast_" + client_id; }
};

}  // namespace holdfast::postgres

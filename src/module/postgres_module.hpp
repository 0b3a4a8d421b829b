// What the command and its PostgreSQL module say to each other. The module holds all that needs
// libpq; it is opened when a postgres:// URL asks for it, so that no other run of the command
// loads libpq and what that needs.
#pragma once

#include <holdfast/guard/postgres_session.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {

struct PostgresConnection {
  std::unique_ptr<PostgresSession> session{};  // null: see `failure`
  PostgresAnswer failure{};
};

struct PostgresModule {
  const char* version;  // must be the command's own: the two are of one build
  // Keywords and values as in a libpq connection string. Blocks until connected or refused.
  PostgresConnection (*connect)(const std::vector<std::pair<std::string, std::string>>& settings);
};

// The module's only symbol.
extern "C" const PostgresModule holdfast_postgres_module;

}  // namespace holdfast

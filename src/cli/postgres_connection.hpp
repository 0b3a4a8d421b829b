// A connection to the PostgreSQL server that a URL names, by way of the module that holds libpq.
#pragma once

#include <holdfast/guard/postgres_session.hpp>

#include <memory>
#include <string>

namespace holdfast::cli {

// The password comes from where it does for a store. Other query parameters are libpq's
// (sslmode=verify-full, host=/run/postgresql). Throws Error: invalid_url; unsupported if the module
// is not installed; access_denied, store_unavailable with what the server said.
std::unique_ptr<PostgresSession> connect_postgres(const std::string& url);

}  // namespace holdfast::cli

#include <holdfast/guard/postgres.hpp>

#include "guard/postgres_call.hpp"

namespace holdfast {

namespace {

using guard::Outcome;

std::optional<std::string> number(Fence fence) { return std::to_string(to_int(fence)); }

std::optional<std::string> floor_text(Fence floor) {
  return floor == Fence::none ? std::nullopt : number(floor);
}

// An array as the server reads it: {"a","b"}.
std::string array_of(std::span<const std::string_view> texts) {
  std::string all = "{";
  for (const std::string_view text : texts) {
    all += all.size() == 1 ? "\"" : ",\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        all += '\\';
      }
      all += c;
    }
    all += '"';
  }
  return all + "}";
}

Outcome ask(PostgresSession& session, const char* sql, const PostgresAnswer::Row& parameters) {
  if (Outcome outcome = guard::needs_transaction(session); outcome.code) {
    return outcome;
  }
  return guard::call(session, sql, parameters).outcome;
}

Outcome try_admit(PostgresSession& session, std::string_view resource, std::string_view name,
                  Fence fence, Fence floor) {
  return ask(session, "SELECT holdfast.admit($1::text, $2::text, $3::bigint, $4::bigint)",
             {std::string(resource), std::string(name), number(fence), floor_text(floor)});
}

Outcome try_admit_all(PostgresSession& session, std::span<const std::string_view> resources,
                      std::string_view name, Fence fence, Fence floor) {
  return ask(session, "SELECT holdfast.admit_all($1::text[], $2::text, $3::bigint, $4::bigint)",
             {array_of(resources), std::string(name), number(fence), floor_text(floor)});
}

Outcome try_install(PostgresSession& session) {
  return guard::call(session, guard_sql_postgres(), {}).outcome;
}

}  // namespace

void PostgresGuard::install() { try_install(session_).raise(); }

void PostgresGuard::install(std::error_code& ec) { ec = try_install(session_).code; }

void PostgresGuard::admit(std::string_view resource, std::string_view name, Fence fence,
                          Fence floor) {
  try_admit(session_, resource, name, fence, floor).raise();
}

void PostgresGuard::admit(std::string_view resource, std::string_view name, Fence fence,
                          Fence floor, std::error_code& ec) {
  ec = try_admit(session_, resource, name, fence, floor).code;
}

void PostgresGuard::admit_all(std::span<const std::string_view> resources, std::string_view name,
                              Fence fence, Fence floor) {
  try_admit_all(session_, resources, name, fence, floor).raise();
}

void PostgresGuard::admit_all(std::span<const std::string_view> resources, std::string_view name,
                              Fence fence, Fence floor, std::error_code& ec) {
  ec = try_admit_all(session_, resources, name, fence, floor).code;
}

}  // namespace holdfast

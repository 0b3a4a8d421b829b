// One statement of a guard on a caller's session, and how its failures are told.
#pragma once

#include <holdfast/guard/postgres_session.hpp>
#include <holdfast/types.hpp>

#include "guard/counted_row.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::guard {

// What the server's words mean. `missing`: what it means that the statement names something that
// is not there; not_found where that is the guard's own schema.
Outcome failure_of(const PostgresAnswer& answer, errc missing);

// Refuses to go on without a transaction of the caller that can still be committed.
Outcome needs_transaction(PostgresSession& session);

// A statement of the guards' own schema.
struct PostgresResult {
  Outcome outcome{};
  PostgresAnswer answer{};
};
PostgresResult call(PostgresSession& session, const std::string& sql,
                    const PostgresAnswer::Row& parameters);

// A table as SQL takes it; `schema` may be empty.
std::string postgres_name(std::string_view schema, std::string_view table);

// Reads the row's number. Outcomes: not_found; invalid_options if the number is NULL or there is no
// such table or column; what the server ran into.
Outcome look_up(PostgresSession& session, const CountedRow& row, std::int64_t& number);

}  // namespace holdfast::guard

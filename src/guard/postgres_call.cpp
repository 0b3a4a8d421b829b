#include "guard/postgres_call.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::guard {

namespace {

std::string without_prefix(const std::string& message) {
  constexpr std::string_view prefix = "holdfast: ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

errc own_code(std::string_view state) {
  if (state == "HF001") return errc::stale_fence;
  if (state == "HF004") return errc::not_found;
  if (state == "HF005") return errc::format_too_new;
  if (state == "HF006") return errc::already_written;
  return errc::invalid_options;
}

bool names_nothing(std::string_view state) {
  // no such schema, function, table, column
  return state == "3F000" || state == "42883" || state == "42P01" || state == "42703";
}

// The classes of what passes: connections, resources, rollbacks, an operator, the system, and
// locks not to be had in time (55P03).
bool passes(std::string_view state) {
  constexpr std::array<std::string_view, 7> starts = {"08", "40", "53", "55P03", "57", "58", "XX"};
  return std::ranges::any_of(starts,
                             [state](std::string_view start) { return state.starts_with(start); });
}

}  // namespace

Outcome failure_of(const PostgresAnswer& answer, errc missing) {
  const std::string& state = answer.sqlstate;
  if (state.empty()) {
    return {make_error_code(errc::store_unavailable),
            answer.message + ": the connection is lost, and the transaction with it"};
  }
  if (state.starts_with("HF")) {
    return {make_error_code(own_code(state)), without_prefix(answer.message)};
  }
  if (state == "42501" || state == "25006" || state.starts_with("28")) {
    return {make_error_code(errc::access_denied), without_prefix(answer.message)};
  }
  if (state == "25P02") {
    return {make_error_code(errc::invalid_options),
            "the transaction has failed before: roll it back"};
  }
  if (passes(state)) {
    return {make_error_code(errc::store_unavailable), answer.message + ": roll back and try again"};
  }
  if (names_nothing(state)) {
    const char* const hint =
        missing == errc::not_found ? ": call PostgresGuard::install() once" : "";
    return {make_error_code(missing), answer.message + hint};
  }
  return {make_error_code(errc::invalid_options), answer.message};
}

Outcome needs_transaction(PostgresSession& session) {
  switch (session.transaction()) {
    case PostgresSession::Transaction::open:
      return {};
    case PostgresSession::Transaction::failed:
      return {make_error_code(errc::invalid_options),
              "the transaction has failed before: roll it back"};
    default:
      return {make_error_code(errc::invalid_options),
              "no transaction is open: BEGIN, ask the guard, write, COMMIT"};
  }
}

PostgresResult call(PostgresSession& session, const std::string& sql,
                    const PostgresAnswer::Row& parameters) {
  for (const auto& parameter : parameters) {
    if (parameter && parameter->find('\0') != std::string::npos) {
      return {{make_error_code(errc::invalid_options), "PostgreSQL's text cannot hold a zero byte"},
              {}};
    }
  }
  PostgresResult result{{}, session.run(sql, parameters)};
  if (result.answer.failed) {
    result.outcome = failure_of(result.answer, errc::not_found);
  }
  return result;
}

std::string postgres_name(std::string_view schema, std::string_view table) {
  return (schema.empty() ? "" : quoted(schema) + ".") + quoted(table);
}

Outcome look_up(PostgresSession& session, const CountedRow& row, std::int64_t& number) {
  const PostgresAnswer answer = session.run(
      "SELECT " + quoted(row.number_column) + "::bigint FROM " +
          postgres_name(row.schema, row.table) + " WHERE " + quoted(row.key_column) + " = $1",
      {key_text(row)});
  if (answer.failed) {
    return failure_of(answer, errc::invalid_options);
  }
  if (answer.rows.empty()) {
    return told_missing(row);
  }
  const auto& text = answer.rows.front().at(0);
  if (!text) {
    return told_null(row);
  }
  std::from_chars(text->data(), text->data() + text->size(), number);
  return {};
}

}  // namespace holdfast::guard

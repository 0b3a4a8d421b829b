#include <holdfast/guard/postgres_claim.hpp>

#include "guard/postgres_call.hpp"

namespace holdfast {

namespace {

using guard::Outcome;
using guard::postgres_name;

Outcome try_claim(PostgresSession& session, const PostgresQueue& queue, int most,
                  std::vector<std::string>& keys) {
  if (most <= 0) {
    return {make_error_code(errc::invalid_options), "a claim is of one row or more"};
  }
  if (Outcome outcome = guard::needs_transaction(session); outcome.code) {
    return outcome;
  }
  const std::string key = guard::quoted(queue.key_column);
  // In brackets on lines of its own: neither an OR nor a comment in the condition reaches further.
  const PostgresAnswer answer =
      session.run("SELECT " + key + " FROM " + postgres_name(queue.schema, queue.table) +
                      " WHERE (\n" + std::string(queue.condition) + "\n) ORDER BY " + key +
                      " LIMIT $1::bigint FOR UPDATE SKIP LOCKED",
                  {std::to_string(most)});
  if (answer.failed) {
    return guard::failure_of(answer, errc::invalid_options);
  }
  for (const PostgresAnswer::Row& row : answer.rows) {
    keys.push_back(row.at(0).value_or(""));
  }
  return {};
}

}  // namespace

std::vector<std::string> claim_rows(PostgresSession& session, const PostgresQueue& queue,
                                    int most) {
  std::vector<std::string> keys;
  try_claim(session, queue, most, keys).raise();
  return keys;
}

std::vector<std::string> claim_rows(PostgresSession& session, const PostgresQueue& queue, int most,
                                    std::error_code& ec) {
  std::vector<std::string> keys;
  ec = try_claim(session, queue, most, keys).code;
  return keys;
}

}  // namespace holdfast

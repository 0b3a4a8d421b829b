#include <holdfast/guard/postgres_once.hpp>

#include "guard/postgres_call.hpp"

#include <charconv>

namespace holdfast {

namespace {

using guard::Outcome;

std::int64_t number(const std::optional<std::string>& text) {
  std::int64_t value = 0;
  if (text) {
    std::from_chars(text->data(), text->data() + text->size(), value);
  }
  return value;
}

Outcome try_take(PostgresSession& session, std::string_view key, Fence fence, OnceAnswer& answer) {
  if (Outcome outcome = guard::needs_transaction(session); outcome.code) {
    return outcome;
  }
  const auto fence_text =
      fence == Fence::none ? std::nullopt : std::optional(std::to_string(to_int(fence)));
  const auto result = guard::call(
      session, "SELECT first, result, by_fence FROM holdfast.once($1::text, $2::bigint)",
      {std::string(key), fence_text});
  if (!result.outcome.code) {
    const PostgresAnswer::Row& row = result.answer.rows.at(0);
    answer.first = row.at(0) == "t";
    answer.result = row.at(1);
    answer.fence = Fence{number(row.at(2))};
  }
  return result.outcome;
}

Outcome try_keep(PostgresSession& session, std::string_view key, std::string_view result) {
  if (Outcome outcome = guard::needs_transaction(session); outcome.code) {
    return outcome;
  }
  return guard::call(session, "SELECT holdfast.keep($1::text, $2::text)",
                     {std::string(key), std::string(result)})
      .outcome;
}

Outcome try_forget(PostgresSession& session, std::chrono::seconds age, std::int64_t& gone) {
  const auto result =
      guard::call(session, "SELECT holdfast.forget(make_interval(secs => $1::double precision))",
                  {std::to_string(age.count())});
  if (!result.outcome.code) {
    gone = number(result.answer.rows.at(0).at(0));
  }
  return result.outcome;
}

}  // namespace

OnceAnswer PostgresOnce::take(std::string_view key, Fence fence) {
  OnceAnswer answer;
  try_take(session_, key, fence, answer).raise();
  return answer;
}

OnceAnswer PostgresOnce::take(std::string_view key, Fence fence, std::error_code& ec) {
  OnceAnswer answer;
  ec = try_take(session_, key, fence, answer).code;
  return answer;
}

void PostgresOnce::keep(std::string_view key, std::string_view result) {
  try_keep(session_, key, result).raise();
}

void PostgresOnce::keep(std::string_view key, std::string_view result, std::error_code& ec) {
  ec = try_keep(session_, key, result).code;
}

std::int64_t PostgresOnce::forget(std::chrono::seconds age) {
  std::int64_t gone = 0;
  try_forget(session_, age, gone).raise();
  return gone;
}

std::int64_t PostgresOnce::forget(std::chrono::seconds age, std::error_code& ec) {
  std::int64_t gone = 0;
  ec = try_forget(session_, age, gone).code;
  return gone;
}

}  // namespace holdfast

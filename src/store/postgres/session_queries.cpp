// What a session does once it is connected: one query at a time.
#include <holdfast/error.hpp>

#include "store/postgres/errors.hpp"
#include "store/postgres/session.hpp"

#include <charconv>
#include <utility>

namespace holdfast::postgres {

std::int64_t Table::integer(int row, int column) const {
  const std::string_view digits = text(row, column);
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

bool Session::run(const Query& query, UniqueFunction<void(Outcome)> done) {
  // A server that was restarted while nobody ran this lane has hung up on us: the first read may
  // give its last words, the second the end.
  if (PQconsumeInput(connection_.get()) == 0 || PQconsumeInput(connection_.get()) == 0) {
    return false;
  }
  int sent = 0;
  if (query.script) {
    sent = PQsendQuery(connection_.get(), query.sql.c_str());
  } else {
    std::vector<const char*> values;
    values.reserve(query.parameters.size());
    for (const std::string& value : query.parameters) {
      values.push_back(value.c_str());
    }
    sent = PQsendQueryParams(connection_.get(), query.sql.c_str(), static_cast<int>(values.size()),
                             nullptr, values.data(), nullptr, nullptr, 0);
  }
  if (sent == 0) {
    return false;
  }
  done_ = std::move(done);
  flush();
  return true;
}

void Session::flush() {
  const int left = PQflush(connection_.get());
  if (left > 0) {
    descriptor_->await_writable();
  }
  descriptor_->await_readable();  // a failed write shows as a read that fails
}

void Session::on_readable() {
  const auto self = shared_from_this();
  const bool alive = PQconsumeInput(connection_.get()) != 0;
  take_results();
  if (closed_) {
    return;
  }
  if (!alive || PQstatus(connection_.get()) == CONNECTION_BAD) {
    const std::string words = one_line(PQerrorMessage(connection_.get()));
    if (done_) {
      auto done = std::exchange(done_, {});
      done(Trouble{"", words, true});
    }
    if (!closed_ && ready_) {
      fail({errc::store_unavailable, false, "PostgreSQL at " + address_ + ": " + words});
    }
    return;
  }
  if (PQflush(connection_.get()) > 0) {
    descriptor_->await_writable();
  }
  if (descriptor_) {
    descriptor_->await_readable();
  }
}

void Session::take_results() {
  while (done_ && PQisBusy(connection_.get()) == 0) {
    PGresult* const result = PQgetResult(connection_.get());
    if (result == nullptr) {
      auto done = std::exchange(done_, {});
      Outcome outcome = outcome_ ? *std::exchange(outcome_, std::nullopt)
                                 : Outcome{Trouble{"", "no answer", true}};
      done(std::move(outcome));
      break;
    }
    if (!outcome_ || std::holds_alternative<Table>(*outcome_)) {
      outcome_.emplace(outcome_of(result));
    } else {
      PQclear(result);
    }
  }
  while (connection_ && !closed_) {
    PGnotify* const notify = PQnotifies(connection_.get());
    if (notify == nullptr) {
      return;
    }
    const std::string payload = notify->extra;
    PQfreemem(notify);
    if (events_.notified) {
      events_.notified(payload);
    }
  }
}

Outcome Session::outcome_of(PGresult* result) const {
  Table table(result);
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
    return table;
  }
  const auto field = [&](int code) {
    const char* const text = PQresultErrorField(result, code);
    return std::string{text == nullptr ? "" : text};
  };
  std::string words = field(PG_DIAG_MESSAGE_PRIMARY);
  if (words.empty()) {
    words = PQresultErrorMessage(result);
  }
  const std::string severity = field(PG_DIAG_SEVERITY_NONLOCALIZED);
  return Trouble{field(PG_DIAG_SQLSTATE), one_line(words),
                 severity == "FATAL" || severity == "PANIC"};
}

}  // namespace holdfast::postgres

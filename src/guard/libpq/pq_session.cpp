#include <holdfast/guard/libpq.hpp>

#include <libpq-fe.h>

#include <memory>

namespace holdfast {

namespace {

struct Clear {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

std::string first_line(const char* text) {
  const std::string all = text != nullptr ? text : "";
  return all.substr(0, all.find('\n'));
}

PostgresAnswer refusal(const PGresult* result, pg_conn* connection) {
  PostgresAnswer answer{.failed = true};
  const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* const primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (PQstatus(connection) == CONNECTION_OK || state != nullptr) {
    answer.sqlstate = state != nullptr ? state : "XX000";  // XX000: libpq itself, e.g. no memory
  }
  answer.message = first_line(primary != nullptr ? primary : PQerrorMessage(connection));
  return answer;
}

PostgresAnswer rows_of(const PGresult* result) {
  PostgresAnswer answer;
  const int columns = PQnfields(result);
  for (int row = 0; row < PQntuples(result); ++row) {
    PostgresAnswer::Row& fields = answer.rows.emplace_back();
    for (int column = 0; column < columns; ++column) {
      if (PQgetisnull(result, row, column) != 0) {
        fields.emplace_back();
      } else {
        fields.emplace_back(std::in_place, PQgetvalue(result, row, column),
                            static_cast<std::size_t>(PQgetlength(result, row, column)));
      }
    }
  }
  return answer;
}

}  // namespace

PostgresSession::Transaction PqSession::transaction() {
  switch (PQtransactionStatus(connection_)) {
    case PQTRANS_INTRANS:
    case PQTRANS_ACTIVE:
      return Transaction::open;
    case PQTRANS_INERROR:
      return Transaction::failed;
    default:
      return Transaction::none;
  }
}

PostgresAnswer PqSession::run(const std::string& sql, const PostgresAnswer::Row& parameters) {
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const auto& parameter : parameters) {
    values.push_back(parameter ? parameter->c_str() : nullptr);
  }
  const Result result(PQexecParams(connection_, sql.c_str(), static_cast<int>(values.size()),
                                   nullptr, values.data(), nullptr, nullptr, 0));
  const ExecStatusType status = PQresultStatus(result.get());
  return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK
             ? rows_of(result.get())
             : refusal(result.get(), connection_);
}

}  // namespace holdfast

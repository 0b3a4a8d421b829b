// holdfast/guard/pqxx.hpp: the PostgreSQL guards in a transaction of libpqxx (6.4 or newer).
//
//   pqxx::work work{connection};
//   holdfast::PqxxSession session{work};
//   holdfast::PostgresGuard{session}.admit("ledger", lease.name(), lease.fence());
//   work.exec("INSERT INTO ledger ...");
//   work.commit();
//
// Headers only: it is compiled with your libpqxx, and holdfast links none. A refused admit leaves
// the transaction failed, as PostgreSQL does: let `work` go without commit(). Not for
// pqxx::nontransaction, which has no transaction to guard: that is invalid_options.
#pragma once

#include <holdfast/guard/postgres.hpp>

#include <pqxx/pqxx>

namespace holdfast {

class PqxxSession final : public PostgresSession {
 public:
  // `transaction` must outlive the session.
  explicit PqxxSession(pqxx::transaction_base& transaction) noexcept : transaction_(transaction) {}

  Transaction transaction() override {
    const bool none = dynamic_cast<pqxx::nontransaction*>(&transaction_) != nullptr;
    return none ? Transaction::none : Transaction::open;
  }

  PostgresAnswer run(const std::string& sql, const PostgresAnswer::Row& parameters) override {
    try {
      return rows_of(ask(sql, parameters));
    } catch (const pqxx::broken_connection& error) {
      return refusal("", error.what());
    } catch (const pqxx::sql_error& error) {
      return refusal(error.sqlstate().empty() ? "XX000" : error.sqlstate(), error.what());
    }
  }

 private:
  pqxx::result ask(const std::string& sql, const PostgresAnswer::Row& parameters) {
    if (parameters.empty()) {
      return transaction_.exec(sql);
    }
    std::vector<const char*> values;
    for (const auto& parameter : parameters) {
      values.push_back(parameter ? parameter->c_str() : nullptr);
    }
#if PQXX_VERSION_MAJOR >= 7
    pqxx::params given;
    for (const char* const value : values) {
      given.append(value);
    }
    return transaction_.exec_params(sql, given);
#else
    return transaction_.exec_params(sql, pqxx::prepare::make_dynamic_params(values));
#endif
  }

  // libpqxx gives what psql would print: "ERROR:  the message", and more lines.
  static PostgresAnswer refusal(const std::string& state, std::string text) {
    if (text.starts_with("ERROR:  ")) {
      text.erase(0, 8);
    }
    return {.failed = true, .sqlstate = state, .message = text.substr(0, text.find('\n'))};
  }

  static PostgresAnswer rows_of(const pqxx::result& result) {
    PostgresAnswer answer;
    for (const auto& row : result) {
      PostgresAnswer::Row& fields = answer.rows.emplace_back();
      for (const auto& field : row) {
        if (field.is_null()) {
          fields.emplace_back();
        } else {
          fields.emplace_back(field.c_str());
        }
      }
    }
    return answer;
  }

  pqxx::transaction_base& transaction_;
};

}  // namespace holdfast

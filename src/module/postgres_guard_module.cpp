#include "module/postgres_module.hpp"

#include <holdfast/guard/libpq.hpp>
#include <holdfast/version.hpp>

#include <libpq-fe.h>

namespace holdfast {

namespace {

struct Finish {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
using Connection = std::unique_ptr<PGconn, Finish>;

class OwningSession final : public PostgresSession {
 public:
  explicit OwningSession(Connection connection)
      : connection_(std::move(connection)), session_(connection_.get()) {}

  Transaction transaction() override { return session_.transaction(); }
  PostgresAnswer run(const std::string& sql, const PostgresAnswer::Row& parameters) override {
    return session_.run(sql, parameters);
  }

 private:
  Connection connection_;
  PqSession session_;
};

// libpq tells no SQLSTATE of a refused connection, only words.
std::string state_of(PGconn* connection, const std::string& words) {
  const bool refused = PQconnectionNeedsPassword(connection) != 0 ||
                       words.find("authentication failed") != std::string::npos ||
                       words.find("pg_hba.conf") != std::string::npos;
  return refused ? "28000" : "08001";
}

PostgresConnection connect(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : settings) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  Connection connection(PQconnectdbParams(keywords.data(), values.data(), 0));
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    std::string words = PQerrorMessage(connection.get());
    words.resize(words.find_last_not_of('\n') + 1);
    return {{}, {.failed = true, .sqlstate = state_of(connection.get(), words), .message = words}};
  }
  PQsetNoticeProcessor(
      connection.get(), [](void*, const char*) {}, nullptr);
  return {std::make_unique<OwningSession>(std::move(connection)), {}};
}

}  // namespace

extern "C" const PostgresModule holdfast_postgres_module{version, connect};

}  // namespace holdfast

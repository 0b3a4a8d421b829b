// A database of its own in a PostgreSQL server, and proxies to it, for the cases.
#pragma once

#include "tests/chaos/proxied_link.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/postgres_server.hpp"

#include <memory>
#include <string>

namespace holdfast::chaos {

class PostgresTestStore final : public TestStore {
 public:
  std::string url() const override { return url_; }
  std::unique_ptr<Client> connect(ClientOptions options) override {
    return std::make_unique<Client>(url(), std::move(options));
  }
  std::unique_ptr<Link> link() override {
    return std::make_unique<ProxiedLink>(server_.port(), [this](std::uint16_t port) {
      std::string url = url_;
      const std::string old = ":" + std::to_string(server_.port());
      return url.replace(url.find(old), old.size(), ":" + std::to_string(port));
    });
  }
  // Rows that have ended mean nothing; they go with the next grant of their name.
  std::optional<std::int64_t> left_behind() override {
    if (test::PostgresServer::run_at(url_, "SELECT to_regprocedure('holdfast.lock_version()')")
            .empty()) {
      return 0;
    }
    return std::stoll(test::PostgresServer::run_at(
        url_,
        "WITH t AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) "
        "SELECT (SELECT count(*) FROM holdfast.lock_lease, t WHERE expires > now) + "
        "(SELECT count(*) FROM holdfast.lock_waiter, t WHERE alive_until >= now) + "
        "(SELECT count(*) FROM holdfast.lock_tombstone, t WHERE ends > now) + "
        "(SELECT count(*) FROM holdfast.lock_done, t WHERE ends > now)"));
  }
  void erase(const std::string& name) override {
    test::PostgresServer::run_at(url_,
                                 "DELETE FROM holdfast.lock_lease WHERE name = '" + name + "'");
  }

 private:
  test::PostgresServer& server_ = test::PostgresServer::shared();
  std::string url_ = server_.new_database();
};

}  // namespace holdfast::chaos

// The guards' common tests on PostgreSQL. Stops and restarts are in postgres_pause_test.cpp.
#include "tests/conformance/guarded_ledger.hpp"
#include "tests/conformance/postgres_user.hpp"

#include <sstream>

namespace holdfast::guard_tests {
namespace {

using postgres_tests::PgUser;
using test::PostgresServer;

class PostgresLedger : public GuardedLedger {
 public:
  explicit PostgresLedger(const std::string& url) : user_(url) {}

  std::error_code admit(const Stamp& stamp, const std::string& resource) override {
    return append(stamp, resource, 0);
  }
  std::error_code append(const Stamp& stamp, const std::string& resource, int rows) override {
    user_.must("BEGIN");
    const std::error_code ec =
        user_.admit(resource, stamp.name, to_int(stamp.fence), to_int(stamp.floor));
    for (int row = 0; row < rows && !ec; ++row) append_unchecked(stamp.fence, resource);
    user_.must(ec ? "ROLLBACK" : "COMMIT");
    return ec;
  }
  void append_unchecked(Fence fence, const std::string& resource) override {
    user_.must("INSERT INTO ledger(resource, fence) VALUES(" + quoted(resource) + ", " +
               std::to_string(to_int(fence)) + ")");
  }
  std::vector<std::int64_t> rows(const std::string& resource) override {
    std::istringstream list{
        user_.one("SELECT string_agg(fence::text, ' ' ORDER BY id) "
                  "FROM ledger WHERE resource = " +
                  quoted(resource))};
    std::vector<std::int64_t> fences;
    for (std::int64_t fence = 0; list >> fence;) fences.push_back(fence);
    return fences;
  }

 private:
  static std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
    return result + "'";
  }

  PgUser user_;
};

class PostgresStorage : public Storage {
 public:
  PostgresStorage() {
    PgUser user{url_};
    user.must("CREATE TABLE ledger(id bigserial PRIMARY KEY, resource text, fence bigint)");
    PostgresGuard{user.session()}.install();
  }
  std::unique_ptr<GuardedLedger> open() override { return std::make_unique<PostgresLedger>(url_); }

 private:
  std::string url_ = PostgresServer::shared().new_database();
};

StorageKind postgres_storage() {
  return {.name = "postgres",
          .make = [] { return std::make_unique<PostgresStorage>(); },
          .why_not = PostgresServer::installed() ? "" : PostgresServer::how_to_install};
}

INSTANTIATE_TEST_SUITE_P(postgres, C39, testing::Values(postgres_storage()), storage_name);

}  // namespace
}  // namespace holdfast::guard_tests

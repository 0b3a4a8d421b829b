#include "tests/chaos/sqlite_test_store.hpp"

#include "tests/support/temp_dir.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace holdfast::chaos {

namespace {

// The first column of all rows.
std::string ask_sql(const std::string& file, const std::string& sql) {
  sqlite3* database = nullptr;
  char* message = nullptr;
  std::string rows;
  const auto collect = [](void* into, int columns, char** values, char**) {
    if (columns > 0 && values[0] != nullptr) {
      static_cast<std::string*>(into)->append(values[0]);
    }
    return 0;
  };
  const bool good = sqlite3_open(file.c_str(), &database) == SQLITE_OK &&
                    sqlite3_busy_timeout(database, 5000) == SQLITE_OK &&
                    sqlite3_exec(database, sql.c_str(), collect, &rows, &message) == SQLITE_OK;
  const std::string why = message != nullptr ? message : sqlite3_errmsg(database);
  sqlite3_free(message);
  sqlite3_close(database);
  if (!good) {
    throw std::runtime_error{sql + ": " + why};
  }
  return rows;
}

}  // namespace

void run_sql(const std::string& file, const std::string& sql) {
  static_cast<void>(ask_sql(file, sql));
}

std::string integrity_of(const std::string& file) {
  return ask_sql(file, "PRAGMA integrity_check");
}

namespace {

class SqliteTestStore final : public TestStore {
 public:
  std::string url() const override { return "sqlite://" + file(); }
  std::unique_ptr<Client> connect(ClientOptions options) override {
    return std::make_unique<Client>(url(), std::move(options));
  }
  std::unique_ptr<Link> link() override { return make_faulty_link(url()); }
  std::optional<std::int64_t> left_behind() override {
    return std::stoll(ask_sql(file(),
                              "SELECT (SELECT count(*) FROM lease WHERE state <> 0) + "
                              "(SELECT count(*) FROM waiter) + (SELECT count(*) FROM tombstone) + "
                              "(SELECT count(*) FROM done)"));
  }
  void erase(const std::string& name) override {
    run_sql(file(), "DELETE FROM lease WHERE name = '" + name + "'");
  }

 private:
  std::string file() const { return (dir_ / "locks.db").string(); }
  test::TempDir dir_{};
};

}  // namespace

std::unique_ptr<TestStore> start_sqlite() { return std::make_unique<SqliteTestStore>(); }

}  // namespace holdfast::chaos

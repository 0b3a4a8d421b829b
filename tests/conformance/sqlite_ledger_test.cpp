// The guards' common tests on SQLite.
#include "tests/conformance/guarded_ledger.hpp"
#include "tests/conformance/sqlite_fixture.hpp"
#include "tests/conformance/sqlite_user.hpp"

#include <holdfast/guard/sqlite.hpp>

#include <filesystem>

namespace holdfast::guard_tests {
namespace {

using sqlite_tests::Db;

class SqliteLedger : public GuardedLedger {
 public:
  explicit SqliteLedger(const std::string& path) : db_(path) { sqlite3_busy_timeout(db_, 0); }

  std::error_code admit(const Stamp& stamp, const std::string& resource) override {
    return append(stamp, resource, 0);
  }
  std::error_code append(const Stamp& stamp, const std::string& resource, int rows) override {
    if (db_.run("BEGIN IMMEDIATE") != SQLITE_OK) return errc::store_unavailable;
    std::error_code ec = errc::busy;
    SqliteGuard{db_}.admit(resource, stamp.name, stamp.fence, stamp.floor, ec);
    for (int row = 0; row < rows && !ec; ++row) insert(stamp.fence, resource);
    db_.must(ec ? "ROLLBACK" : "COMMIT");
    return ec;
  }
  void append_unchecked(Fence fence, const std::string& resource) override {
    insert(fence, resource);
  }
  std::vector<std::int64_t> rows(const std::string& resource) override {
    std::vector<std::int64_t> fences;
    const std::string sql =
        "SELECT fence FROM ledger WHERE resource = " + quoted(resource) + " ORDER BY id";
    sqlite3_exec(
        db_, sql.c_str(),
        [](void* out, int, char** columns, char**) {
          static_cast<std::vector<std::int64_t>*>(out)->push_back(std::stoll(columns[0]));
          return 0;
        },
        &fences, nullptr);
    return fences;
  }

 private:
  static std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
    return result + "'";
  }
  void insert(Fence fence, const std::string& resource) {
    db_.must("INSERT INTO ledger(resource, fence) VALUES(" + quoted(resource) + ", " +
             std::to_string(to_int(fence)) + ")");
  }

  Db db_;
};

class SqliteStorage : public Storage {
 public:
  SqliteStorage() {
    Db db{path()};
    db.must("PRAGMA journal_mode=WAL");
    db.must("CREATE TABLE ledger(id INTEGER PRIMARY KEY, resource TEXT, fence INTEGER)");
    SqliteGuard{db}.install();
  }
  std::unique_ptr<GuardedLedger> open() override { return std::make_unique<SqliteLedger>(path()); }
  // All that a crash leaves: the last connection did not close, so the log is still to be read.
  void restart() override {
    Db open_at_the_crash{path()};
    open_at_the_crash.one("SELECT count(*) FROM ledger");
    open_at_the_crash.must("INSERT INTO ledger(resource, fence) VALUES('other', 1)");
    const std::string copy = dir_ / "after.db";
    std::filesystem::copy_file(path(), copy);
    std::filesystem::copy_file(path() + "-wal", copy + "-wal");
    path_ = copy;
  }

 private:
  std::string path() const { return path_.empty() ? dir_ / "app.db" : path_; }

  sqlite_tests::TempDir dir_{"/dev/shm"};  // no waiting for a disk
  std::string path_{};
};

StorageKind sqlite_storage() {
  return {.name = "sqlite", .make = [] { return std::make_unique<SqliteStorage>(); }};
}

INSTANTIATE_TEST_SUITE_P(sqlite, C39, testing::Values(sqlite_storage()), storage_name);
INSTANTIATE_TEST_SUITE_P(sqlite, C39Stops, testing::Values(sqlite_storage()), storage_name);

}  // namespace
}  // namespace holdfast::guard_tests

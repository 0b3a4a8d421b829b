#include "cli/demo_ledger.hpp"

#include <holdfast/error.hpp>
#include <holdfast/guard/sqlite.hpp>

#include <sqlite3.h>

#include <utility>

namespace holdfast::cli {

namespace {

constexpr int patience_ms = 10'000;  // others write to the ledger too, each for a moment

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

[[noreturn]] void fail(sqlite3* database) {
  throw Error{errc::store_unavailable, std::string{"the ledger: "} + sqlite3_errmsg(database)};
}

Statement prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) {
    fail(database);
  }
  return {statement, &sqlite3_finalize};
}

sqlite3* open_file(const std::string& path) {
  sqlite3* database = nullptr;
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK) {
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> closer{database, &sqlite3_close};
    fail(database);
  }
  sqlite3_busy_timeout(database, patience_ms);
  return database;
}

}  // namespace

void DemoLedger::Close::operator()(sqlite3* database) const noexcept { sqlite3_close(database); }

DemoLedger::DemoLedger(const std::string& path) : database_(open_file(path)) {
  execute("PRAGMA journal_mode = WAL");
  execute("PRAGMA synchronous = NORMAL");
}

void DemoLedger::create(const std::string& path, std::int64_t orders) {
  DemoLedger ledger{path};
  ledger.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL)");
  ledger.execute(
      "CREATE TABLE payouts (order_id INTEGER NOT NULL REFERENCES orders, fence INTEGER NOT NULL)");
  ledger.execute("CREATE INDEX payouts_by_order ON payouts (order_id)");
  ledger.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                 std::to_string(orders) + ") INSERT INTO orders SELECT i, 100 * i FROM n");
  SqliteGuard{ledger.database_.get()}.install();
}

std::vector<std::int64_t> DemoLedger::unpaid(std::int64_t limit_to) const {
  const Statement query = prepare(database_.get(),
                                  "SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM "
                                  "payouts) ORDER BY id LIMIT ?");
  sqlite3_bind_int64(query.get(), 1, limit_to);
  std::vector<std::int64_t> orders;
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(query.get())) == SQLITE_ROW) {
    orders.push_back(sqlite3_column_int64(query.get(), 0));
  }
  if (step != SQLITE_DONE) {
    fail(database_.get());
  }
  return orders;
}

bool DemoLedger::pay(const std::vector<std::int64_t>& orders, const std::string& lock_name,
                     Fence fence, bool guarded) {
  execute("BEGIN IMMEDIATE");
  std::error_code refused;
  if (guarded) {
    SqliteGuard{database_.get()}.admit("payouts", lock_name, fence, fence, refused);
  }
  if (refused) {
    execute("ROLLBACK");
    if (refused != errc::stale_fence) {
      throw Error{refused, "the ledger's guard"};
    }
    return false;
  }
  write_payouts(orders, fence);
  execute("COMMIT");
  return true;
}

void DemoLedger::write_payouts(const std::vector<std::int64_t>& orders, Fence fence) {
  const Statement insert =
      prepare(database_.get(), "INSERT INTO payouts (order_id, fence) VALUES (?, ?)");
  for (const std::int64_t order : orders) {
    sqlite3_bind_int64(insert.get(), 1, order);
    sqlite3_bind_int64(insert.get(), 2, to_int(fence));
    if (sqlite3_step(insert.get()) != SQLITE_DONE) {
      fail(database_.get());
    }
    sqlite3_reset(insert.get());
  }
}

DemoLedger::Totals DemoLedger::totals() const {
  const Statement query =
      prepare(database_.get(),
              "SELECT count(DISTINCT order_id), count(*) - count(DISTINCT order_id) "
              "FROM payouts");
  if (sqlite3_step(query.get()) != SQLITE_ROW) {
    fail(database_.get());
  }
  return {sqlite3_column_int64(query.get(), 0), sqlite3_column_int64(query.get(), 1)};
}

void DemoLedger::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail(database_.get());
  }
}

}  // namespace holdfast::cli

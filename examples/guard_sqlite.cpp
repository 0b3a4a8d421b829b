// A ledger in SQLite that refuses the writes of a holder that comes back too late.
//
//   example_guard_sqlite DATABASE [STORE-URL]
#include <holdfast/guard/sqlite.hpp>
#include <holdfast/holdfast.hpp>

#include <sqlite3.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

Database open_database(const char* path) {
  sqlite3* opened = nullptr;
  const int result = sqlite3_open(path, &opened);
  Database database{opened};
  if (result != SQLITE_OK) {
    throw std::runtime_error{sqlite3_errmsg(database.get())};
  }
  return database;
}

void execute(sqlite3* database, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error{sqlite3_errmsg(database)};
  }
}

void pay(sqlite3* database, holdfast::Fence fence, int order) {
  holdfast::SqliteGuard guard{database};
  execute(database, "BEGIN IMMEDIATE");
  try {
    guard.admit("ledger", "payout", fence);  // throws if a newer holder was here
    execute(database, "INSERT INTO payment(orders) VALUES(" + std::to_string(order) + ")");
    execute(database, "COMMIT");
  } catch (...) {
    sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Database database = open_database(argc > 1 ? argv[1] : ":memory:");
    execute(database.get(), "CREATE TABLE IF NOT EXISTS payment(orders INTEGER)");
    holdfast::SqliteGuard{database.get()}.install();

    holdfast::Client client{argc > 2 ? argv[2] : "memory:"};
    holdfast::Mutex mutex{client, "payout"};
    const holdfast::Fence late = mutex.acquire().fence();  // released at once: we were paused
    const holdfast::Lease lease = mutex.acquire();
    pay(database.get(), lease.fence(), 1);
    try {
      pay(database.get(), late, 1);
      std::cout << "paid twice\n";
      return 1;
    } catch (const holdfast::Error& error) {
      std::cout << "refused: " << error.what() << '\n';
      return error.code() == holdfast::errc::stale_fence ? 0 : 1;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

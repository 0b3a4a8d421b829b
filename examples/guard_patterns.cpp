// What makes many locks unnecessary, on SQLite: an idempotency key, a version, rows that workers
// share, and a fence in each row.
//
//   example_guard_patterns DATABASE
#include <holdfast/guard/sqlite.hpp>

#include <sqlite3.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;

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

// The second time, the first receipt.
std::string pay_once(sqlite3* database, const std::string& order) {
  holdfast::SqliteOnce once{database};
  execute(database, "BEGIN IMMEDIATE");
  try {
    const holdfast::OnceAnswer answer = once.take("payment " + order);
    if (answer.first) {
      execute(database, "INSERT INTO payment(orders) VALUES(" + order + ")");
      once.keep("payment " + order, "receipt for " + order);
    }
    execute(database, "COMMIT");
    return answer.first ? "paid" : "paid before: " + answer.result.value_or("");
  } catch (...) {
    sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

// Writes only if the article is still as it was read.
void edit(sqlite3* database, int version_read) {
  execute(database,
          "UPDATE article SET body = 'new', version = version + 1 "
          "WHERE id = 1 AND version = " +
              std::to_string(version_read));
  holdfast::check_version_write(database, sqlite3_changes(database),
                                {.table = "article", .key_column = "id", .key = 1}, version_read);
}

// Each row is done by one worker; one that was too slow is told so.
void work(sqlite3* database) {
  const holdfast::SqliteQueue queue{.table = "job"};
  for (const holdfast::ClaimedRow& row : holdfast::claim_rows(database, queue, 10, 5min)) {
    const std::string key = std::to_string(std::get<std::int64_t>(row.key));
    execute(database, "UPDATE job SET state = 'done', claim_until = NULL WHERE id = " + key +
                          " AND claim = " + std::to_string(row.claim));
    holdfast::check_claim_write(database, sqlite3_changes(database), queue, row);
    std::cout << "job " << key << " done\n";
  }
}

// Each row is written once per fence, and by no older holder.
void write_row(sqlite3* database, holdfast::Fence fence) {
  const std::string number = std::to_string(holdfast::to_int(fence));
  execute(database, "UPDATE job SET state = 'checked', fence = " + number +
                        " WHERE id = 1 AND fence < " + number);
  holdfast::check_row_write(database, sqlite3_changes(database),
                            {.table = "job", .key_column = "id", .key = 1}, fence);
}

template <class Call>
void expect_refusal(holdfast::errc code, Call call) {
  try {
    call();
  } catch (const holdfast::Error& error) {
    if (error.code() != code) {
      throw;
    }
    std::cout << "refused: " << error.what() << '\n';
    return;
  }
  throw std::runtime_error{"was not refused"};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Database database = open_database(argc > 1 ? argv[1] : ":memory:");
    execute(
        database.get(),
        "CREATE TABLE payment(orders INTEGER);"
        "CREATE TABLE article(id INTEGER PRIMARY KEY, body, version INTEGER NOT NULL DEFAULT 0);"
        "CREATE TABLE job(id INTEGER PRIMARY KEY, state, fence INTEGER NOT NULL DEFAULT 0,"
        "                 claim INTEGER NOT NULL DEFAULT 0, claim_until INTEGER DEFAULT 0);"
        "INSERT INTO article(id) VALUES(1);"
        "INSERT INTO job(state) VALUES('open'), ('open')");
    holdfast::SqliteGuard{database.get()}.install();

    std::cout << pay_once(database.get(), "4711") << '\n';
    std::cout << pay_once(database.get(), "4711") << '\n';
    edit(database.get(), 0);
    expect_refusal(holdfast::errc::version_conflict, [&] { edit(database.get(), 0); });
    work(database.get());
    write_row(database.get(), holdfast::Fence{8});
    expect_refusal(holdfast::errc::stale_fence,
                   [&] { write_row(database.get(), holdfast::Fence{7}); });
    expect_refusal(holdfast::errc::already_written,
                   [&] { write_row(database.get(), holdfast::Fence{8}); });
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

// A user's own database and connection, next to which the guards are installed.
#pragma once

#include <sqlite3.h>

#include <stdexcept>
#include <string>

namespace holdfast::sqlite_tests {

// Waits up to 10 s for a busy database.
class Db {
 public:
  explicit Db(const std::string& path) {
    if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK) throw std::runtime_error(path);
    sqlite3_busy_timeout(handle_, 10'000);
  }
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;
  ~Db() { sqlite3_close(handle_); }
  operator sqlite3*() { return handle_; }

  int run(const std::string& sql) {
    return sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  }
  void must(const std::string& sql) {
    if (run(sql) != SQLITE_OK) throw std::runtime_error(sql + ": " + sqlite3_errmsg(handle_));
  }
  std::string one(const std::string& sql) {
    std::string value;
    sqlite3_exec(
        handle_, sql.c_str(),
        [](void* out, int, char** columns, char**) {
          *static_cast<std::string*>(out) = columns[0] != nullptr ? columns[0] : "NULL";
          return 0;
        },
        &value, nullptr);
    return value;
  }

 private:
  sqlite3* handle_ = nullptr;
};

}  // namespace holdfast::sqlite_tests

// A statement on a caller's connection, for one use, and how its failures are told.
#pragma once

#include "guard/outcome.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::guard {

// What the last call on this connection ran into.
Outcome failure_of(sqlite3* database);

class SqliteStatement {
 public:
  // Errors are told by step().
  SqliteStatement(sqlite3* database, const std::string& sql);

  // Bound text must outlive the statement.
  void bind(int index, std::int64_t value);
  void bind(int index, std::string_view value);
  int step();  // SQLITE_ROW, SQLITE_DONE, or anything else: see failure()
  Outcome failure() const { return failure_of(database_); }

  bool is_null(int column) const;
  bool is_integer(int column) const;
  bool is_text(int column) const;
  std::int64_t integer(int column) const;
  std::string text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_{};
};

}  // namespace holdfast::guard

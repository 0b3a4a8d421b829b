// A thin RAII face of the SQLite C API: what the store needs and no more. Results other than
// success are thrown as SqlError; the store turns them into answers at one place.
#pragma once

#include "base/fork_generation.hpp"

#include <holdfast/types.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::sqlite {

struct SqlError : std::exception {
  SqlError(int result_code, int errno_then, std::string message)
      : code(result_code), system_error(errno_then), text(std::move(message)) {}
  const char* what() const noexcept override { return text.c_str(); }

  // Another connection has the lock that was needed: trying again soon will do.
  bool is_busy() const noexcept;

  int code;                // the extended SQLite result code
  int system_error;        // errno of the failed system call, or zero
  std::string text;        // what SQLite says
  bool at_commit = false;  // the transaction may have taken effect
};

class Database;

// A statement that is compiled at its first use and kept. `sql` must outlive it.
//
//   Statement find{database, "SELECT fence FROM lease WHERE name = ?1"};
//   for (auto rows = find.run(name); rows.next();) use(rows.integer(0));
class Statement {
 public:
  Statement(Database& database, const char* sql) : database_(&database), sql_(sql) {}

  // One execution. The statement is reset when this goes out of scope. Text and blobs that were
  // bound must live until then.
  class Rows {
   public:
    explicit Rows(sqlite3_stmt* statement) noexcept : statement_(statement) {}
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;
    ~Rows();

    bool next();
    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    std::uint32_t count(int column) const { return static_cast<std::uint32_t>(integer(column)); }
    std::string text(int column) const;
    OwnerId owner(int column) const;
    Instant instant(int column) const { return Instant{Duration{integer(column)}}; }
    std::optional<Instant> maybe_instant(int column) const;
    Duration duration(int column) const { return Duration{integer(column)}; }
    Fence fence(int column) const { return Fence{integer(column)}; }

   private:
    sqlite3_stmt* statement_;
  };

  template <class... Values>
  [[nodiscard]] Rows run(const Values&... values) {
    sqlite3_stmt* statement = compiled();
    int index = 0;
    (bind(statement, ++index, values), ...);
    return Rows{statement};
  }

  // Runs a statement without result rows to its end.
  template <class... Values>
  void apply(const Values&... values) {
    Rows rows = run(values...);
    rows.next();
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  sqlite3_stmt* compiled();
  static void bind(sqlite3_stmt* statement, int index, std::int64_t value);
  static void bind(sqlite3_stmt* statement, int index, std::string_view value);
  static void bind(sqlite3_stmt* statement, int index, const OwnerId& value);
  static void bind(sqlite3_stmt* statement, int index, std::nullptr_t value);
  static void bind(sqlite3_stmt* statement, int index, Instant value) {
    bind(statement, index, static_cast<std::int64_t>(value.time_since_epoch().count()));
  }
  static void bind(sqlite3_stmt* statement, int index, Duration value) {
    bind(statement, index, static_cast<std::int64_t>(value.count()));
  }
  static void bind(sqlite3_stmt* statement, int index, Fence value) {
    bind(statement, index, to_int(value));
  }
  template <class T>
  static void bind(sqlite3_stmt* statement, int index, const std::optional<T>& value) {
    value ? bind(statement, index, *value) : bind(statement, index, nullptr);
  }

  Database* database_;
  const char* sql_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_{};
};

// One connection. Not thread-safe. Never waits for a lock: busy is thrown at once.
class Database {
 public:
  // Opens an existing file for writing. Closing leaves the -wal and -shm files where they are, and
  // their content as it is: deleting them goes by *name*, which may mean another file by then.
  explicit Database(const std::string& path);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  void execute(const char* sql);
  bool in_transaction() const noexcept;
  bool is_read_only() const noexcept;
  sqlite3* handle() const noexcept { return handle_.get(); }

 private:
  friend class Transaction;
  struct Close {
    void operator()(sqlite3* handle) const noexcept;
  };
  unsigned made_in_ = fork_generation();
  std::unique_ptr<sqlite3, Close> handle_{};
  Statement begin_read_{*this, "BEGIN"};
  Statement begin_write_{*this, "BEGIN IMMEDIATE"};
  Statement commit_{*this, "COMMIT"};
};

// An open transaction; rolled back unless committed.
class Transaction {
 public:
  enum class Kind : std::uint8_t { read, write };
  Transaction(Database& database, Kind kind);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  void commit();  // a failure is thrown with at_commit set

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace holdfast::sqlite

#include "guard/sqlite_statement.hpp"

#include <sqlite3.h>

namespace holdfast::guard {

Outcome failure_of(sqlite3* database) {
  const std::string text = sqlite3_errmsg(database);
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {make_error_code(errc::access_denied), text};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {make_error_code(errc::store_unavailable),
              text + ": roll back and try again, and begin with BEGIN IMMEDIATE"};
    case SQLITE_ERROR:
      if (text.starts_with("no such table: holdfast_")) {
        return {make_error_code(errc::not_found), text + ": call SqliteGuard::install() once"};
      }
      return {make_error_code(errc::invalid_options), text};
    default:
      return {make_error_code(errc::store_unavailable), text};
  }
}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

SqliteStatement::SqliteStatement(sqlite3* database, const std::string& sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  statement_.reset(statement);
}

void SqliteStatement::bind(int index, std::int64_t value) {
  if (statement_) {
    sqlite3_bind_int64(statement_.get(), index, value);
  }
}

void SqliteStatement::bind(int index, std::string_view value) {
  if (statement_) {
    const char* data = value.data() != nullptr ? value.data() : "";  // null would bind NULL
    sqlite3_bind_text64(statement_.get(), index, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
}

int SqliteStatement::step() { return statement_ ? sqlite3_step(statement_.get()) : SQLITE_ERROR; }

bool SqliteStatement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool SqliteStatement::is_integer(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

bool SqliteStatement::is_text(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT;
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes != nullptr ? std::string(bytes, size) : std::string{};
}

}  // namespace holdfast::guard

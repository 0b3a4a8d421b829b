#include "store/sqlite/database.hpp"

#include <sqlite3.h>

#include <cstring>

namespace holdfast::sqlite {

namespace {

[[noreturn]] void raise(sqlite3* handle, int code) {
  const int extended = handle != nullptr ? sqlite3_extended_errcode(handle) : code;
  // Without a message of the connection's own, sqlite3_errmsg() could describe an older failure.
  const bool own = handle != nullptr && (extended & 0xff) == (code & 0xff);
  throw SqlError(own ? extended : code, own ? sqlite3_system_errno(handle) : 0,
                 own ? sqlite3_errmsg(handle) : sqlite3_errstr(code));
}

void require_ok(sqlite3* handle, int code) {
  if (code != SQLITE_OK) {
    raise(handle, code);
  }
}

}  // namespace

bool SqlError::is_busy() const noexcept {
  const int primary = code & 0xff;
  return primary == SQLITE_BUSY || primary == SQLITE_LOCKED || primary == SQLITE_PROTOCOL;
}

Database::Database(const std::string& path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
      nullptr);
  handle_.reset(handle);
  require_ok(handle, code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 0);
  int keep = 1;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // A short log: whoever opens the file first, as every `holdfast run` may, has to read all of it.
  sqlite3_wal_autocheckpoint(handle, 256);
}

Database::~Database() {
  if (made_in_ != fork_generation()) {
    static_cast<void>(handle_.release());  // the parent's: closing it here would disturb it
  }
}

void Database::Close::operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }

void Database::execute(const char* sql) {
  require_ok(handle_.get(), sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr));
}

bool Database::in_transaction() const noexcept {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

bool Database::is_read_only() const noexcept {
  return sqlite3_db_readonly(handle_.get(), "main") == 1;
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

sqlite3_stmt* Statement::compiled() {
  if (!statement_) {
    sqlite3_stmt* statement = nullptr;
    require_ok(database_->handle(),
               sqlite3_prepare_v3(database_->handle(), sql_, -1, SQLITE_PREPARE_PERSISTENT,
                                  &statement, nullptr));
    statement_.reset(statement);
  }
  return statement_.get();
}

void Statement::bind(sqlite3_stmt* statement, int index, std::int64_t value) {
  require_ok(sqlite3_db_handle(statement), sqlite3_bind_int64(statement, index, value));
}

void Statement::bind(sqlite3_stmt* statement, int index, std::string_view value) {
  // A null pointer would bind NULL, not the empty text.
  const char* data = value.data() != nullptr ? value.data() : "";
  require_ok(
      sqlite3_db_handle(statement),
      sqlite3_bind_text(statement, index, data, static_cast<int>(value.size()), SQLITE_STATIC));
}

void Statement::bind(sqlite3_stmt* statement, int index, const OwnerId& value) {
  require_ok(sqlite3_db_handle(statement),
             sqlite3_bind_blob(statement, index, value.bytes.data(),
                               static_cast<int>(value.bytes.size()), SQLITE_STATIC));
}

void Statement::bind(sqlite3_stmt* statement, int index, std::nullptr_t) {
  require_ok(sqlite3_db_handle(statement), sqlite3_bind_null(statement, index));
}

Statement::Rows::~Rows() { sqlite3_reset(statement_); }

bool Statement::Rows::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code != SQLITE_DONE) {
    raise(sqlite3_db_handle(statement_), code);
  }
  return false;
}

bool Statement::Rows::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::Rows::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::Rows::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes != nullptr ? std::string(bytes, size) : std::string{};
}

OwnerId Statement::Rows::owner(int column) const {
  OwnerId owner;
  const void* bytes = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  if (bytes == nullptr || size != owner.bytes.size()) {
    throw SqlError(SQLITE_CORRUPT, 0, "an owner is not 16 bytes long");
  }
  std::memcpy(owner.bytes.data(), bytes, size);
  return owner;
}

std::optional<Instant> Statement::Rows::maybe_instant(int column) const {
  return is_null(column) ? std::nullopt : std::optional{instant(column)};
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  (kind == Kind::write ? database_.begin_write_ : database_.begin_read_).apply();
}

Transaction::~Transaction() {
  if (open_ && database_.in_transaction()) {
    // Failing to roll back leaves the connection unusable, which the next statement reports.
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  try {
    database_.commit_.apply();
  } catch (SqlError& error) {
    error.at_commit = true;
    throw;
  }
  open_ = false;
}

}  // namespace holdfast::sqlite

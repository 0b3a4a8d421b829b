#include "store/sqlite/failures.hpp"

#include "store/sqlite/database.hpp"

#include <holdfast/error.hpp>

#include <sqlite3.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace holdfast::sqlite {

namespace {

Failed failed(errc code, const SqlError& error, std::string detail) {
  return {make_error_code(code), error.at_commit, std::move(detail)};
}

std::string cause_of(const SqlError& error) {
  return error.system_error != 0
             ? error.text + " (" + std::generic_category().message(error.system_error) + ")"
             : error.text;
}

bool is_disk_full(const SqlError& error) {
  return (error.code & 0xff) == SQLITE_FULL ||
         ((error.code & 0xff) == SQLITE_IOERR &&
          (error.system_error == ENOSPC || error.system_error == EDQUOT));
}

bool is_refused(int system) { return system == EACCES || system == EPERM || system == EROFS; }

Explained explain(const SqlError& error, const std::string& path) {
  if (error.is_busy()) {
    return {};
  }
  if (is_disk_full(error)) {
    return {failed(errc::store_unavailable, error, "the disk of " + path + " is full"), true};
  }
  if (error.code == SQLITE_READONLY_DBMOVED) {
    return {failed(errc::storage_unsafe, error, path + " was moved or removed while in use"),
            false};
  }
  switch (error.code & 0xff) {
    case SQLITE_READONLY:
      return {failed(errc::access_denied, error, path + " cannot be written: " + cause_of(error)),
              true};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {failed(is_refused(error.system_error) || error.system_error == 0
                         ? errc::access_denied
                         : errc::store_unavailable,
                     error, "cannot open " + path + " or make files beside it: " + cause_of(error)),
              true};
    case SQLITE_NOTADB:
      return {failed(errc::storage_unsafe, error, path + " is not an SQLite database"), true};
    case SQLITE_CORRUPT:
      return {failed(errc::storage_unsafe, error,
                     path + " is damaged (" + error.text +
                         "); stop everything that locks with it and remove it"),
              true};
    default:
      return {failed(errc::store_unavailable, error, path + ": " + cause_of(error)), true};
  }
}

}  // namespace

Explained explain_current_exception(const std::string& path) {
  try {
    throw;
  } catch (const SqlError& error) {
    return explain(error, path);
  } catch (const Error& error) {
    // What the checks refuse stays refused until the path names the old file again: the
    // connection is kept, so that its inode cannot be given to another file.
    return {Failed{error.code(), false, error.detail()}, false};
  } catch (const std::bad_alloc&) {
    return {Failed{make_error_code(errc::store_unavailable), true, "out of memory"}, true};
  } catch (const std::exception& error) {
    return {Failed{make_error_code(errc::store_unavailable), true, path + ": " + error.what()},
            true};
  }
}

}  // namespace holdfast::sqlite

#include "store/sqlite/session.hpp"

#include <holdfast/error.hpp>

namespace holdfast::sqlite {

namespace {

[[noreturn]] void refuse_replaced(const LockFile& file) {
  throw Error(errc::storage_unsafe,
              file.path() +
                  " was replaced since this program first used it; stop everything that "
                  "locks with it, then start anew");
}

// Refuses another file before SQLite touches it: it would take the old file's -wal for its own.
LockFile prepare(const Settings& settings, const Crowd& crowd) {
  const auto known = crowd.known_file();
  LockFile file = LockFile::prepare(settings.path, settings.any_file_system, !known);
  if (known && known->place != file.id()) {
    refuse_replaced(file);
  }
  return file;
}

// SQLite opens what it may only read without a word.
Database& writable(Database& database, const LockFile& file) {
  if (database.is_read_only()) {
    throw Error(errc::access_denied,
                file.path() + " cannot be written: its mode or its file system forbids it");
  }
  return database;
}

}  // namespace

Session::Session(const Settings& settings, Crowd& crowd, Instant now)
    : clock_(settings.clock ? *settings.clock : HostClock::of_this_process()),
      file_(prepare(settings, crowd)),
      open_(file_),
      database_(file_.path()),
      schema_(open_schema(writable(database_, file_), clock_, now)),
      table_(database_, schema_.boot),
      wake_(file_.path()) {
  open_.note_companions(file_);
  if (!crowd.agrees_on({file_.id(), schema_.file_id})) {
    refuse_replaced(file_);
  }
}

void Session::choose(Flush flush) {
  if (flush != flush_) {
    // In WAL mode NORMAL leaves out the flush of each commit, and nothing else.
    database_.execute(flush == Flush::yes ? "PRAGMA synchronous=FULL"
                                          : "PRAGMA synchronous=NORMAL");
    flush_ = flush;
  }
}

}  // namespace holdfast::sqlite

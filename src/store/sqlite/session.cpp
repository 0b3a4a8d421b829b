#include "store/sqlite/session.hpp"

#include <holdfast/error.hpp>

namespace holdfast::sqlite {

namespace {

// SQLite opens what it may only read without a word.
Database& writable(Database& database, const LockFile& file) {
  if (database.is_read_only()) {
    throw Error(errc::access_denied,
                file.path() + " cannot be written: its mode or its file system forbids it");
  }
  return database;
}

}  // namespace

Session::Session(const Settings& settings, Crowd& crowd)
    : clock_(settings.clock ? *settings.clock : HostClock::of_this_process()),
      file_(LockFile::prepare(settings.path, settings.any_file_system)),
      open_(file_),
      database_(file_.path()),
      schema_(open_schema(writable(database_, file_), clock_)),
      table_(database_, schema_.clock),
      wake_(file_.path()) {
  file_.note_companions();
  if (!crowd.agrees_on_file(schema_.file_id)) {
    throw Error(errc::storage_unsafe,
                file_.path() +
                    " was replaced since this program first used it; stop everything "
                    "that locks with it, then start anew");
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

// Remembers which lock files this process has open, and refuses one that other processes use
// without the -wal and -shm files that the path shows: somebody deleted those. SQLite itself would
// make new ones, and the two sides would not see each other's locks.
#pragma once

#include "store/sqlite/lock_file.hpp"

namespace holdfast::sqlite {

// Must be made before SQLite opens the file and destroyed after it closed it. Looking at other
// processes' locks needs a descriptor, and closing that drops the locks of this process: so it is
// done only while this process has the file not open.
class OpenFile {
 public:
  // Throws Error{storage_unsafe}, also in a forked child whose parent has the file open: SQLite
  // would take the parent's locks for its own there. Throws SqlError that is_busy() while it is
  // not yet sure: a process that is just opening or closing the file looks the same for a moment.
  explicit OpenFile(const LockFile& file);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  // Once SQLite has opened the database: which -wal and -shm it uses. Later connections of this
  // process must meet the same. Throws as the constructor does.
  void note_companions(LockFile& file);

 private:
  FileId id_;
};

}  // namespace holdfast::sqlite

// The database file as a place in the file system: may it hold locks, and is it still the file
// that was opened? Every refusal is Error{storage_unsafe} or a code that says more.
//
// No function here opens the database file: closing any descriptor of it would drop the POSIX
// locks that SQLite holds on it for this whole process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace holdfast::sqlite {

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;
};

class LockFile {
 public:
  // Follows symbolic links to the one real path, creates the file (mode 0600) if it is missing,
  // and refuses: a missing directory, a file system that is not known to be local (unless
  // `any_file_system`), a file that is a mount point or has several names.
  static LockFile prepare(const std::string& path, bool any_file_system);

  const std::string& path() const noexcept { return path_; }
  const FileId& id() const noexcept { return database_; }

  // Notes which -wal and -shm files belong to the opened database. Both must exist.
  void note_companions();
  // Throws Error{storage_unsafe} if a path no longer names the file that was opened.
  void require_unchanged() const;

 private:
  std::string path_{};
  FileId database_{};
  FileId wal_{};
  FileId shm_{};
  bool companions_noted_ = false;
};

// The name of the file system at `path`, as "ext4"; its magic number in hex if it is not known.
struct FileSystem {
  std::string name{};
  bool local = false;
};
FileSystem file_system_of(const std::string& path);

// Turns errno from touching `path` into an Error that says what to do.
[[noreturn]] void raise_file_error(const std::string& what, const std::string& path, int error);

}  // namespace holdfast::sqlite

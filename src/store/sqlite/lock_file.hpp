// The database file as a place in the file system: may it hold locks, and is it still the file
// that was opened? Every refusal is Error{storage_unsafe} or a code that says more.
//
// No function here opens the database file: closing any descriptor of it would drop the POSIX
// locks that SQLite holds on it for this whole process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::sqlite {

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;
};

// The files that SQLite keeps beside a database in WAL mode.
struct Companions {
  FileId wal{};
  FileId shm{};
  bool operator==(const Companions&) const = default;
};

class LockFile {
 public:
  // Follows symbolic links to the one real path, creates the file (mode 0600) if it is missing,
  // and refuses: a missing directory, a file system that is not known to be local (unless
  // `any_file_system`), a file that is a mount point or has several names.
  // `create` false: a missing file is refused as well, for it was there before.
  static LockFile prepare(const std::string& path, bool any_file_system, bool create);

  const std::string& path() const noexcept { return path_; }
  const FileId& id() const noexcept { return database_; }

  // nullopt unless both exist.
  std::optional<Companions> companions() const;
  // Notes which of them belong to the opened database.
  void expect(const Companions& opened) { expected_ = opened; }
  // Throws Error{storage_unsafe} if a path no longer names the file that was opened.
  void require_unchanged() const;

 private:
  std::string path_{};
  FileId database_{};
  std::optional<Companions> expected_{};
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

#include "store/sqlite/open_file.hpp"

#include "base/fork_generation.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/wake_file.hpp"

#include <holdfast/error.hpp>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <optional>

namespace holdfast::sqlite {

namespace {

constexpr Duration opening_takes_max = std::chrono::milliseconds{250};

// SQLite's file format: byte 18 is 2 in WAL mode; locks are on 512 bytes from 1 GiB on.
constexpr off_t write_version_at = 18;
constexpr std::uint8_t write_version_wal = 2;
constexpr off_t lock_bytes_at = 0x40000000;
constexpr off_t lock_bytes = 512;

struct Use {
  int count = 0;
  unsigned generation = 0;  // of the process that opened it
  std::optional<Companions> companions{};
  std::optional<Instant> suspicious_since{};
};

struct ByPlace {
  bool operator()(const FileId& a, const FileId& b) const {
    return a.device != b.device ? a.device < b.device : a.inode < b.inode;
  }
};

struct Registry {
  std::mutex mutex{};
  std::map<FileId, Use, ByPlace> uses{};
};

Registry& registry() {
  static Registry all;
  return all;
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool others_use_without_companions(const std::string& path) {
  if (exists(path + "-wal") && exists(path + "-shm")) {
    return false;
  }
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::uint8_t version = 0;
  if (!file || pread(file.get(), &version, 1, write_version_at) != 1 ||
      version != write_version_wal) {
    return false;  // what is wrong, if anything, is found by opening it
  }
  struct flock held {};
  held.l_type = F_WRLCK;
  held.l_whence = SEEK_SET;
  held.l_start = lock_bytes_at;
  held.l_len = lock_bytes;
  // Would we get it? A write lock needs a writable descriptor only to be taken, not to be asked
  // for.
  return fcntl(file.get(), F_GETLK, &held) == 0 && held.l_type != F_UNLCK;
}

[[noreturn]] void refuse_companions(const LockFile& file) {
  throw Error(errc::storage_unsafe, "the -wal or -shm of " + file.path() +
                                        " was removed while in use; stop everything that locks "
                                        "with it, then start anew");
}

// A first connection of this process: do other processes use companions that are not there?
void require_not_orphaned(Use& use, const LockFile& file) {
  if (!others_use_without_companions(file.path())) {
    use.suspicious_since.reset();
    return;
  }
  const Instant now = BootClock::now();
  if (!use.suspicious_since) {
    use.suspicious_since = now;
  }
  if (now - *use.suspicious_since < opening_takes_max) {
    throw SqlError(SQLITE_BUSY, 0, "other processes use the file without its -wal");
  }
  use.suspicious_since.reset();
  refuse_companions(file);
}

}  // namespace

OpenFile::OpenFile(const LockFile& file) : id_(file.id()) {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  Use& use = all.uses[id_];
  if (use.count != 0 && use.generation != fork_generation()) {
    throw Error(errc::storage_unsafe,
                "this process was forked from one that has " + file.path() +
                    " open, and SQLite's locks do not survive that; fork first, or exec");
  }
  if (use.count == 0) {
    use.generation = fork_generation();
    use.companions.reset();
    require_not_orphaned(use, file);
  } else if (use.companions && file.companions() != use.companions) {
    refuse_companions(file);
  }
  ++use.count;
}

void OpenFile::note_companions(LockFile& file) {
  const auto seen = file.companions();
  if (!seen) {
    throw SqlError(SQLITE_BUSY, 0, "the -wal and -shm are just being made or removed");
  }
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  Use& use = all.uses[id_];
  if (use.companions && use.companions != seen) {
    refuse_companions(file);
  }
  use.companions = seen;
  file.expect(*seen);
  file.require_unchanged();
}

OpenFile::~OpenFile() {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  const auto entry = all.uses.find(id_);
  if (--entry->second.count == 0) {
    all.uses.erase(entry);
  }
}

}  // namespace holdfast::sqlite

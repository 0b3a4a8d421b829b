#include "store/sqlite/lock_file.hpp"

#include <holdfast/error.hpp>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>

namespace holdfast::sqlite {

namespace {

struct KnownFileSystem {
  std::uint64_t magic;
  const char* name;
};

// File systems of one kernel, where POSIX locks and shared mappings mean what SQLite needs.
constexpr std::array local_file_systems{
    KnownFileSystem{EXT4_SUPER_MAGIC, "ext4"},
    KnownFileSystem{XFS_SUPER_MAGIC, "xfs"},
    KnownFileSystem{BTRFS_SUPER_MAGIC, "btrfs"},
    KnownFileSystem{TMPFS_MAGIC, "tmpfs"},
    KnownFileSystem{RAMFS_MAGIC, "ramfs"},
    KnownFileSystem{OVERLAYFS_SUPER_MAGIC, "overlayfs"},
    KnownFileSystem{F2FS_SUPER_MAGIC, "f2fs"},
    KnownFileSystem{0x2fc12fc1, "zfs"},
    KnownFileSystem{0xca451a4e, "bcachefs"},
    KnownFileSystem{0x3153464a, "jfs"},
    KnownFileSystem{NILFS_SUPER_MAGIC, "nilfs2"},
    KnownFileSystem{REISERFS_SUPER_MAGIC, "reiserfs"},
};
// For the message only.
constexpr std::array other_file_systems{
    KnownFileSystem{NFS_SUPER_MAGIC, "nfs"},     KnownFileSystem{CIFS_SUPER_MAGIC, "cifs"},
    KnownFileSystem{SMB2_SUPER_MAGIC, "smb2"},   KnownFileSystem{SMB_SUPER_MAGIC, "smb"},
    KnownFileSystem{FUSE_SUPER_MAGIC, "fuse"},   KnownFileSystem{V9FS_MAGIC, "9p"},
    KnownFileSystem{CEPH_SUPER_MAGIC, "ceph"},   KnownFileSystem{AFS_SUPER_MAGIC, "afs"},
    KnownFileSystem{OCFS2_SUPER_MAGIC, "ocfs2"},
};

constexpr const char* start_anew =
    " while in use; stop everything that locks with it, then start anew";

[[noreturn]] void refuse(const std::string& why) { throw Error(errc::storage_unsafe, why); }

std::optional<struct stat> stat_of(const std::string& path) {
  struct stat seen {};
  if (stat(path.c_str(), &seen) == 0) {
    return seen;
  }
  if (errno == ENOENT) {
    return std::nullopt;
  }
  raise_file_error("cannot look at", path, errno);
}

FileId id_of(const struct stat& seen) { return {seen.st_dev, seen.st_ino}; }

std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr),
                                                             &std::free);
  if (resolved) {
    return std::string(resolved.get());
  }
  if (errno == ENOENT) {
    return std::nullopt;
  }
  raise_file_error("cannot reach", path, errno);
}

// The one path under which SQLite knows the file, whatever links lead to it.
std::string resolve(const std::string& path) {
  if (auto existing = real_path(path)) {
    return *existing;
  }
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == 0 ? "/" : path.substr(0, slash);
  const auto real_directory = real_path(directory);
  if (!real_directory) {
    throw Error(errc::store_unavailable, "directory " + directory + " does not exist; create it");
  }
  struct stat seen {};
  if (lstat(path.c_str(), &seen) == 0 && S_ISLNK(seen.st_mode)) {
    refuse(path + " is a symbolic link to a file that does not exist");
  }
  return (*real_directory == "/" ? "" : *real_directory) + path.substr(slash);
}

void create_if_missing(const std::string& path) {
  // mknod() and not open(): see the banner of the header.
  if (mknod(path.c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0) != 0 && errno != EEXIST) {
    raise_file_error("cannot create", path, errno);
  }
}

// The mount points of this process's namespace, spaces and the like written as \\040 (proc(5)).
bool is_listed_mount_point(const std::string& path) {
  std::ifstream table("/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string point;
    for (int field = 0; field < 5; ++field) {
      fields >> point;
    }
    std::string plain;
    for (std::size_t i = 0; i < point.size(); ++i) {
      if (point[i] == '\\' && i + 3 < point.size()) {
        plain += static_cast<char>(std::stoi(point.substr(i + 1, 3), nullptr, 8));
        i += 3;
      } else {
        plain += point[i];
      }
    }
    if (plain == path) {
      return true;
    }
  }
  return false;
}

void refuse_mount_point(const std::string& path) {
  struct statx seen {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_INO, &seen) != 0) {
    raise_file_error("cannot look at", path, errno);
  }
  const bool told = (seen.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;
  const bool is_root = (seen.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  if (told ? is_root : is_listed_mount_point(path)) {
    refuse(path +
           " is itself a mount point: under its other path the same file would give the same "
           "locks again; mount its directory instead");
  }
}

void refuse_hard_links(const struct stat& seen, const std::string& path) {
  if (seen.st_nlink > 1) {
    refuse(path + " has " + std::to_string(seen.st_nlink) +
           " hard links: under another name the "
           "same file would give the same locks again; keep one name");
  }
}

}  // namespace

void raise_file_error(const std::string& what, const std::string& path, int error) {
  const std::string detail = what + " " + path + ": " + std::generic_category().message(error);
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      throw Error(errc::access_denied, detail);
    case ELOOP:
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
      throw Error(errc::invalid_url, detail);
    default:
      throw Error(errc::store_unavailable, detail);
  }
}

FileSystem file_system_of(const std::string& path) {
  struct statfs seen {};
  if (statfs(path.c_str(), &seen) != 0) {
    raise_file_error("cannot look at the file system of", path, errno);
  }
  const auto magic = static_cast<std::uint64_t>(seen.f_type) & 0xffffffffU;
  for (const KnownFileSystem& known : local_file_systems) {
    if (known.magic == magic) {
      return {known.name, true};
    }
  }
  for (const KnownFileSystem& known : other_file_systems) {
    if (known.magic == magic) {
      return {known.name, false};
    }
  }
  std::array<char, 16> digits{};
  const auto written = std::to_chars(digits.begin(), digits.end(), magic, 16);
  return {"0x" + std::string(digits.begin(), written.ptr), false};
}

LockFile LockFile::prepare(const std::string& path, bool any_file_system, bool create) {
  LockFile file;
  file.path_ = resolve(path);
  const bool present = stat_of(file.path_).has_value();
  const FileSystem system =
      file_system_of(present ? file.path_ : file.path_.substr(0, file.path_.rfind('/') + 1));
  if (!system.local && !any_file_system) {
    refuse(file.path_ + " is on " + system.name +
           ", which is not known to be a local file system; "
           "use a local path, or allow_fs=any if only one host ever uses it");
  }
  if (!present && !create) {
    refuse(file.path_ + " was removed" + start_anew);
  }
  create_if_missing(file.path_);
  const auto seen = stat_of(file.path_);
  if (!seen) {
    throw Error(errc::store_unavailable, file.path_ + " was removed while it was being opened");
  }
  if (!S_ISREG(seen->st_mode)) {
    throw Error(errc::invalid_url, file.path_ + " is not a regular file");
  }
  refuse_hard_links(*seen, file.path_);
  refuse_mount_point(file.path_);
  file.database_ = id_of(*seen);
  return file;
}

std::optional<Companions> LockFile::companions() const {
  const auto wal = stat_of(path_ + "-wal");
  const auto shm = stat_of(path_ + "-shm");
  return wal && shm ? std::optional{Companions{id_of(*wal), id_of(*shm)}} : std::nullopt;
}

void LockFile::require_unchanged() const {
  const auto seen = stat_of(path_);
  if (!seen) {
    refuse(path_ + " was removed" + start_anew);
  }
  if (id_of(*seen) != database_) {
    refuse(path_ + " was replaced" + start_anew);
  }
  refuse_hard_links(*seen, path_);
  if (expected_ && companions() != expected_) {
    refuse("the -wal or -shm of " + path_ + " was removed or replaced" + start_anew);
  }
}

}  // namespace holdfast::sqlite

// Where a lock file may be, and what happens when its place changes: C33's environment faults.
#include "tests/conformance/sqlite_fixture.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace holdfast::sqlite_tests {
namespace {

namespace fs = std::filesystem;

AcquireReply acquire_at(const std::string& path, const std::string& query = {}) {
  Asker asker{factory_of(path, query)};
  return asker.acquire(claim("a", 1));
}

void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
  sqlite3_close(db);
}

// A user without rights, for as long as this lives.
class AsNobody {
 public:
  AsNobody() { is_nobody_ = geteuid() == 0 && seteuid(65534) == 0; }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (is_nobody_ && seteuid(0) != 0) std::abort();
  }

 private:
  bool is_nobody_ = false;
};

// Mounts something on `where`, for as long as this lives.
class Mounted {
 public:
  Mounted(const std::string& what, const std::string& where, const char* kind, unsigned long flags,
          const char* options = nullptr)
      : where_(where), done_(mount(what.c_str(), where.c_str(), kind, flags, options) == 0) {}
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;
  ~Mounted() {
    if (done_) umount2(where_.c_str(), MNT_DETACH);
  }
  explicit operator bool() const { return done_; }

 private:
  std::string where_;
  bool done_;
};

class C33SqlitePlace : public testing::Test {
 protected:
  TempDir dir{"/dev/shm"};
  std::string path = dir / "locks.db";
};

TEST_F(C33SqlitePlace, MakesAPrivateFileInADirectoryThatExists) {
  expect<Granted>(acquire_at(path));
  struct stat seen {};
  ASSERT_EQ(stat(path.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777U, 0600U);
}

TEST_F(C33SqlitePlace, RefusesAMissingDirectory) {
  expect_failed(acquire_at(dir / "no/such/locks.db"), errc::store_unavailable,
                "no/such does not exist; create it");
  EXPECT_FALSE(fs::exists(dir / "no"));
}

TEST_F(C33SqlitePlace, RefusesWhatIsNoFile) {
  expect_failed(acquire_at(dir.path()), errc::invalid_url, "is not a regular file");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_failed(acquire_at(path), errc::invalid_url, "is not a regular file");
}

TEST_F(C33SqlitePlace, RefusesAFileThatIsNoDatabase) {
  std::ofstream(path) << std::string(4096, 'x');
  expect_failed(acquire_at(path), errc::storage_unsafe, "is not an SQLite database");
}

TEST_F(C33SqlitePlace, RefusesADatabaseOfSomethingElse) {
  run_sql(path, "CREATE TABLE t(x)");
  expect_failed(acquire_at(path), errc::storage_unsafe, "a database of something else");
}

TEST_F(C33SqlitePlace, RefusesANewerFormat) {
  expect<Granted>(acquire_at(path));
  Asker asker{factory_of(path)};
  expect<Granted>(asker.acquire(claim("b", 1)));
  run_sql(path, "PRAGMA user_version=3");
  expect_failed(asker.acquire(claim("c", 2)), errc::format_too_new, "update holdfast");
  expect_failed(acquire_at(path), errc::format_too_new, "has format 3");
}

TEST_F(C33SqlitePlace, SaysThatAFileIsDamaged) {
  {
    Asker asker{factory_of(path)};
    for (std::uint8_t i = 1; i < 200; ++i) {
      expect<Granted>(asker.acquire(claim("name " + std::to_string(i), i)));
    }
  }
  run_sql(path, "PRAGMA wal_checkpoint(TRUNCATE)");
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(static_cast<std::size_t>(fs::file_size(path)) - 4096, '\x5a');
  }
  expect_failed(acquire_at(path), errc::storage_unsafe, "damaged");
}

TEST_F(C33SqlitePlace, RefusesWithoutTheRight) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
  expect<Granted>(acquire_at(path));
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
  const AsNobody nobody;
  expect_failed(acquire_at(path), errc::access_denied, "cannot be written");
  expect_failed(acquire_at(dir / "new.db"), errc::access_denied, "cannot create");
}

TEST_F(C33SqlitePlace, RefusesAReadOnlyMount) {
  expect<Granted>(acquire_at(path));
  const Mounted first{dir.path(), dir.path(), nullptr, MS_BIND};
  if (!first) GTEST_SKIP() << "no right to mount";
  ASSERT_EQ(mount(nullptr, dir.path().c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr),
            0);
  expect_failed(acquire_at(path), errc::access_denied, "cannot be written");
  expect_failed(acquire_at(dir / "new.db"), errc::access_denied, "cannot create");
}

TEST_F(C33SqlitePlace, GrantsNothingOnAFullDiskAndGoesOnAfterwards) {
  const std::string disk = dir / "disk";
  fs::create_directory(disk);
  const Mounted mounted{"tmpfs", disk, "tmpfs", 0, "size=512k"};
  if (!mounted) GTEST_SKIP() << "no right to mount";
  Asker asker{factory_of(disk + "/locks.db")};
  expect<Granted>(asker.acquire(claim("a", 1)));
  const std::string filler = disk + "/filler";
  {
    std::ofstream file(filler);
    while (file << std::string(4096, 'x') << std::flush) {
    }
  }
  int granted = 0;
  AcquireReply reply = Granted{};
  for (std::uint8_t i = 2; i < 250 && std::holds_alternative<Granted>(reply); ++i) {
    reply = asker.acquire(claim("name " + std::to_string(i), i));
    ++granted;  // while the log has room in its last page
  }
  expect_failed(reply, errc::store_unavailable, "disk of");
  expect_failed(acquire_at(disk + "/second.db"), errc::store_unavailable, "");
  fs::remove(filler);
  EXPECT_EQ(asker.inspect("name " + std::to_string(granted + 1)).holders.size(), 0U);
  expect<Granted>(asker.acquire(claim("after", 251)));
  expect<Released>(asker.withdraw(claim("a", 1)));
}

TEST_F(C33SqlitePlace, RefusesAFileSystemThatIsNotKnownToBeLocal) {
  expect_failed(acquire_at("/proc/self/locks.db"), errc::storage_unsafe,
                "not known to be a local file system");
}

TEST_F(C33SqlitePlace, RefusesHardLinks) {
  Asker asker{factory_of(path)};
  expect<Granted>(asker.acquire(claim("a", 1)));
  fs::create_hard_link(path, dir / "second.db");
  expect_failed(asker.acquire(claim("b", 2)), errc::storage_unsafe, "hard links");
  expect_failed(asker.renew(claim("a", 1)), errc::storage_unsafe, "hard links");
  expect_failed(acquire_at(dir / "second.db"), errc::storage_unsafe, "hard links");
  fs::remove(dir / "second.db");
  expect<Renewed>(asker.renew(claim("a", 1)));
}

TEST_F(C33SqlitePlace, RefusesABindMountedFileAndTakesABindMountedDirectory) {
  expect<Granted>(acquire_at(path));
  std::ofstream(dir / "other.db").flush();
  const Mounted file{path, dir / "other.db", nullptr, MS_BIND};
  if (!file) GTEST_SKIP() << "no right to mount";
  expect_failed(acquire_at(dir / "other.db"), errc::storage_unsafe, "mount point");
  TempDir twin{"/dev/shm"};
  const Mounted directory{dir.path(), twin.path(), nullptr, MS_BIND};
  Asker asker{factory_of(twin / "locks.db")};
  expect<Busy>(asker.acquire(claim("a", 2)));
}

TEST_F(C33SqlitePlace, TwoPathsByASymbolicLinkExcludeEachOther) {
  expect<Granted>(acquire_at(path));
  fs::create_symlink(path, dir / "link.db");
  fs::create_directory_symlink(dir.path(), dir / "loop");
  Asker by_file{factory_of(dir / "link.db")};
  Asker by_directory{factory_of(dir / "loop/locks.db")};
  expect<Busy>(by_file.acquire(claim("a", 2)));
  expect<Busy>(by_directory.acquire(claim("a", 2)));
  EXPECT_FALSE(fs::exists(dir / "link.db-wal"));
  fs::create_symlink(dir / "nowhere.db", dir / "dangling.db");
  expect_failed(acquire_at(dir / "dangling.db"), errc::storage_unsafe, "symbolic link");
}

TEST_F(C33SqlitePlace, RefusesAFileThatWasReplaced) {
  const auto factory = factory_of(path);
  Asker asker{factory};
  expect<Granted>(asker.acquire(claim("a", 1)));
  expect<Granted>(acquire_at(dir / "new.db"));
  fs::rename(path, dir / "old.db");
  fs::rename(dir / "new.db", path);
  expect_failed(asker.acquire(claim("b", 2)), errc::storage_unsafe, "was replaced");
  expect_failed(asker.acquire(claim("b", 2)), errc::storage_unsafe, "was replaced");
  expect_failed(asker.renew(claim("a", 1)), errc::storage_unsafe, "was replaced");
  Asker later{factory};  // it never saw the old file, its factory did
  expect_failed(later.acquire(claim("b", 2)), errc::storage_unsafe, "replaced");
  fs::rename(dir / "old.db", path);
  expect<Renewed>(asker.renew(claim("a", 1)));
}

TEST_F(C33SqlitePlace, RefusesAFileThatWasRemoved) {
  const auto factory = factory_of(path);
  Asker asker{factory};
  expect<Granted>(asker.acquire(claim("a", 1)));
  fs::remove(path);
  expect_failed(asker.acquire(claim("b", 2)), errc::storage_unsafe, "was removed");
  expect_failed(asker.queue(claim("b", 2)), errc::storage_unsafe, "was removed");
  Asker later{factory};
  expect_failed(later.acquire(claim("b", 2)), errc::storage_unsafe, "was removed");
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(C33SqlitePlace, RefusesWhenTheLogWasRemoved) {
  for (const std::string suffix : {"-wal", "-shm"}) {
    const std::string file = dir / ("db" + suffix);
    Asker asker{factory_of(file)};
    expect<Granted>(asker.acquire(claim("a", 1)));
    fs::remove(file + suffix);
    expect_failed(asker.renew(claim("a", 1)), errc::storage_unsafe, "-wal or -shm");
    expect_failed(acquire_at(file), errc::storage_unsafe, "-wal or -shm");
    EXPECT_FALSE(fs::exists(file + suffix));
  }
}

// A process that comes new must see that others use a log that it cannot find.
TEST_F(C33SqlitePlace, ANewProcessRefusesWhenOthersLostTheirLog) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    Asker asker{factory_of(path)};
    const char held =
        std::holds_alternative<Granted>(asker.acquire(claim("a", 1, 60s))) ? 'y' : 'n';
    if (write(ready[1], &held, 1) == 1) pause();
    _exit(1);
  }
  char held = 'n';
  ASSERT_EQ(read(ready[0], &held, 1), 1);
  EXPECT_EQ(held, 'y');
  fs::remove(path + "-wal");
  fs::remove(path + "-shm");
  expect_failed(acquire_at(path), errc::storage_unsafe, "-wal or -shm");
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  expect<Granted>(acquire_at(path));  // nobody uses it any more: start anew
}

TEST_F(C33SqlitePlace, AForkedChildMayNotUseWhatItsParentHasOpen) {
  Asker asker{factory_of(path)};
  expect<Granted>(asker.acquire(claim("a", 1)));
  const pid_t child = fork();
  if (child == 0) {
    const auto reply = acquire_at(path);
    const auto* failed = std::get_if<Failed>(&reply);
    const bool refused = failed != nullptr && failed->code == errc::storage_unsafe &&
                         failed->detail.find("forked") != std::string::npos;
    asker.store().close();  // leaves the parent's locks alone
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  expect<Renewed>(asker.renew(claim("a", 1)));
}

TEST_F(C33SqlitePlace, AnotherBootEndsEveryLeaseAndKeepsFencesRising) {
  sqlite::Settings settings;
  settings.path = path;
  settings.clock = sqlite::HostClock{"boot 1", "space", [] { return std::int64_t{5'000'000}; }};
  Asker before{sqlite::make_factory(settings)};
  const Fence first = expect<Granted>(before.acquire(claim("a", 1, 3600s))).fence;
  EXPECT_EQ(to_int(first), 5'000'000);
  settings.clock = sqlite::HostClock{"boot 2", "space", [] { return std::int64_t{1'000'000}; }};
  Asker after{sqlite::make_factory(settings)};
  EXPECT_TRUE(after.inspect("a").holders.empty());
  EXPECT_GT(expect<Granted>(after.acquire(claim("a", 2))).fence, first);
  settings.clock = sqlite::HostClock{"boot 2", "another space", [] { return std::int64_t{1}; }};
  Asker elsewhere{sqlite::make_factory(settings)};
  expect_failed(elsewhere.acquire(claim("b", 3)), errc::storage_unsafe, "time namespace");
}

TEST_F(C33SqlitePlace, DiagnosesWhatItFinds) {
  Asker asker{factory_of(path)};
  std::string all;
  for (const Finding& finding : asker.diagnose()) {
    EXPECT_NE(finding.level, Finding::Level::failure) << finding.what;
    all += finding.what + "\n";
  }
  for (const char* part :
       {"this host only", "locks.db", "tmpfs", "wal", "quick check", "inotify"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " in " << all;
  }
  Asker nowhere{factory_of(dir / "no/locks.db")};
  const auto findings = nowhere.diagnose();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].level, Finding::Level::failure);
}

TEST_F(C33SqlitePlace, UnderstandsItsUrlOnly) {
  const auto refused = [](const std::string& url) {
    try {
      make_sqlite_factory(StoreUrl::parse(url));
      return std::string{"accepted"};
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), errc::invalid_url);
      return error.detail();
    }
  };
  EXPECT_NE(refused("sqlite:///a/b.db?timeout=2s").find("parameter timeout"), std::string::npos);
  for (const std::string value : {"soon", "0", "61s", "106751d"}) {
    EXPECT_NE(refused("sqlite:///a/b.db?op_timeout=" + value).find("op_timeout=" + value),
              std::string::npos);
  }
  EXPECT_NE(refused("sqlite:///a/b.db?allow_fs=nfs").find("allow_fs=nfs"), std::string::npos);
  EXPECT_NE(refused("sqlite://host/a/b.db").find("takes a path"), std::string::npos);
  EXPECT_NE(refused("sqlite:///").find("absolute path"), std::string::npos);
  EXPECT_EQ(refused("sqlite:///a/b%20c.db?op_timeout=500ms&allow_fs=any"), "accepted");
}

}  // namespace
}  // namespace holdfast::sqlite_tests

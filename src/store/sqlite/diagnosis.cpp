#include "store/sqlite/diagnosis.hpp"

#include <sys/inotify.h>
#include <sys/stat.h>

namespace holdfast::sqlite {

namespace {

using enum Finding::Level;

std::string text_of(Database& database, const char* sql) {
  Statement statement(database, sql);
  Statement::Rows rows = statement.run();
  return rows.next() ? rows.text(0) : std::string{};
}

std::string size_text(const std::string& path) {
  struct stat seen {};
  if (stat(path.c_str(), &seen) != 0) {
    return "missing";
  }
  return std::to_string((seen.st_size + 1023) / 1024) + " KiB";
}

Finding about_file(const std::string& path) {
  struct stat seen {};
  const bool open_to_others = stat(path.c_str(), &seen) == 0 && (seen.st_mode & S_IWOTH) != 0;
  Finding finding{good,
                  "lock file " + path + ", " + size_text(path) + ", write-ahead log " +
                      size_text(path + "-wal"),
                  ""};
  if (open_to_others) {
    finding.level = warning;
    finding.advice = "every user of this host can write it; chmod o-w " + path;
  }
  return finding;
}

Finding about_file_system(const std::string& path) {
  const FileSystem system = file_system_of(path);
  if (system.local) {
    return {good, "file system " + system.name + ", local", ""};
  }
  return {warning, "file system " + system.name + ", not known to be local (allow_fs=any is set)",
          "use a local path; if two hosts use this file, both will be granted the same lock"};
}

Finding about_inotify() {
  const Descriptor inotify(inotify_init1(IN_CLOEXEC));
  if (inotify) {
    return {good, "waiters are woken by inotify", ""};
  }
  return {warning, "no inotify instance is left: waiters look every 200 ms instead",
          "raise fs.inotify.max_user_instances"};
}

Finding about_integrity(Database& database) {
  const std::string verdict = text_of(database, "PRAGMA quick_check(1)");
  if (verdict == "ok") {
    return {good, "SQLite's quick check found no damage", ""};
  }
  return {failure, "SQLite's quick check: " + verdict,
          "stop everything that locks with this file and remove it"};
}

}  // namespace

std::vector<Finding> diagnose(Session& session) {
  const std::string& path = session.file().path();
  Database& database = session.database();
  session.require_unchanged();
  std::vector<Finding> findings;
  findings.push_back({note, "these locks are for the processes of this host only",
                      "for several hosts use a server, as --store redis://HOST"});
  findings.push_back(about_file(path));
  findings.push_back(about_file_system(path));
  findings.push_back({good,
                      "journal mode " + text_of(database, "PRAGMA journal_mode") +
                          ", every fence is flushed to the disk; format " +
                          text_of(database, "PRAGMA user_version"),
                      ""});
  findings.push_back(about_inotify());
  findings.push_back(about_integrity(database));
  return findings;
}

}  // namespace holdfast::sqlite

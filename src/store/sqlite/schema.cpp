#include "store/sqlite/schema.hpp"

#include <holdfast/error.hpp>

#include <optional>

namespace holdfast::sqlite {

namespace {

constexpr const char* tables = R"sql(
CREATE TABLE store(
  id INTEGER PRIMARY KEY CHECK (id = 1),
  file_id TEXT NOT NULL,
  fence_floor INTEGER NOT NULL);
CREATE TABLE clock(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  boot_id TEXT NOT NULL UNIQUE,
  time_namespace TEXT NOT NULL);
CREATE TABLE lease(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  fence INTEGER NOT NULL,
  state INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  owner BLOB NOT NULL,
  granted_at INTEGER NOT NULL,
  lock_delay INTEGER NOT NULL,
  min_end INTEGER,
  max_end INTEGER,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  note TEXT NOT NULL);
CREATE TABLE waiter(
  ticket INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  owner BLOB NOT NULL,
  clock INTEGER NOT NULL,
  alive_until INTEGER NOT NULL,
  joined_at INTEGER NOT NULL,
  ttl INTEGER NOT NULL,
  lock_delay INTEGER NOT NULL,
  min_hold INTEGER NOT NULL,
  max_hold INTEGER NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  note TEXT NOT NULL,
  UNIQUE(name, owner));
CREATE INDEX waiter_by_name ON waiter(name);
CREATE TABLE tombstone(
  owner BLOB PRIMARY KEY,
  clock INTEGER NOT NULL,
  until INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX tombstone_by_end ON tombstone(until);
CREATE TABLE wake(
  seq INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  owner BLOB NOT NULL,
  fence INTEGER NOT NULL);
INSERT INTO store VALUES(1, lower(hex(randomblob(16))), 0);
)sql";

std::int64_t integer_of(Database& database, const char* sql) {
  Statement statement(database, sql);
  Statement::Rows rows = statement.run();
  return rows.next() ? rows.integer(0) : 0;
}

std::string text_of(Database& database, const char* sql) {
  Statement statement(database, sql);
  Statement::Rows rows = statement.run();
  return rows.next() ? rows.text(0) : std::string{};
}

void require_known_version(std::int64_t version) {
  if (version > format_version) {
    throw Error(errc::format_too_new, "the lock file has format " + std::to_string(version) +
                                          ", this holdfast knows formats up to " +
                                          std::to_string(format_version) + "; update holdfast");
  }
}

// Zero for an empty file. One snapshot: another process may be making the tables right now.
std::int64_t checked_version(Database& database) {
  Transaction snapshot(database, Transaction::Kind::read);
  const std::int64_t version = integer_of(database, "PRAGMA user_version");
  const bool is_ours = integer_of(database, "PRAGMA application_id") == application_id;
  if (!is_ours &&
      (version != 0 || integer_of(database, "SELECT count(*) FROM sqlite_schema") > 0)) {
    throw Error(errc::storage_unsafe,
                "the file is a database of something else; give the locks a file of their own");
  }
  require_known_version(version);
  snapshot.commit();
  return version;
}

void require_wal(Database& database) {
  if (text_of(database, "PRAGMA journal_mode") == "wal") {
    return;
  }
  const std::string mode = text_of(database, "PRAGMA journal_mode=WAL");
  if (mode != "wal") {
    throw Error(errc::storage_unsafe,
                "the lock file cannot use SQLite's WAL mode (it stays in \"" + mode + "\")");
  }
}

void create_tables(Database& database) {
  Transaction transaction(database, Transaction::Kind::write);
  if (integer_of(database, "PRAGMA user_version") != 0) {
    return;  // another process was faster
  }
  database.execute(tables);
  database.execute(("PRAGMA application_id=" + std::to_string(application_id)).c_str());
  database.execute(("PRAGMA user_version=" + std::to_string(format_version)).c_str());
  transaction.commit();
}

std::optional<ClockId> find_clock(Database& database, const HostClock& clock) {
  Statement find(database, "SELECT id, time_namespace FROM clock WHERE boot_id = ?1");
  Statement::Rows rows = find.run(clock.boot_id);
  if (!rows.next()) {
    return std::nullopt;
  }
  if (rows.text(1) != clock.time_namespace) {
    throw Error(errc::storage_unsafe, "the lock file is used in another time namespace (" +
                                          rows.text(1) + ", this process is in " +
                                          clock.time_namespace +
                                          "): their clocks differ, so leases cannot be judged");
  }
  return rows.integer(0);
}

// What an earlier boot left behind means nothing now; only its fences count.
ClockId start_clock(Database& database, const HostClock& clock) {
  Transaction transaction(database, Transaction::Kind::write);
  if (const auto known = find_clock(database, clock)) {
    return *known;
  }
  Statement(database, "INSERT INTO clock(boot_id, time_namespace) VALUES(?1, ?2)")
      .apply(clock.boot_id, clock.time_namespace);
  const ClockId id = integer_of(database, "SELECT last_insert_rowid()");
  Statement(database, "DELETE FROM clock WHERE id <> ?1").apply(id);
  database.execute("DELETE FROM waiter; DELETE FROM tombstone");
  transaction.commit();
  return id;
}

}  // namespace

OpenedSchema open_schema(Database& database, const HostClock& clock) {
  const std::int64_t version = checked_version(database);
  require_wal(database);
  if (version == 0) {
    create_tables(database);
  }
  database.execute("PRAGMA synchronous=FULL");
  const auto known = find_clock(database, clock);
  OpenedSchema opened;
  opened.clock = known ? *known : start_clock(database, clock);
  opened.file_id = text_of(database, "SELECT file_id FROM store");
  return opened;
}

void FormatCheck::require_known() {
  Statement::Rows rows = version_.run();
  require_known_version(rows.next() ? rows.integer(0) : 0);
}

}  // namespace holdfast::sqlite

#include "store/sqlite/schema.hpp"

#include <holdfast/error.hpp>

#include <optional>

namespace holdfast::sqlite {

namespace {

// The tables whose layout has changed since format 1.
constexpr const char* tables_of_format_2 = R"sql(
CREATE TABLE lease(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  fence INTEGER NOT NULL,
  floor INTEGER NOT NULL,
  state INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  permits INTEGER NOT NULL,
  permit_limit INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  owner BLOB NOT NULL,
  granted_at INTEGER NOT NULL,
  lock_delay INTEGER NOT NULL,
  min_end INTEGER,
  max_end INTEGER,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  note TEXT NOT NULL,
  value TEXT NOT NULL);
CREATE INDEX lease_by_name ON lease(name);
CREATE TABLE waiter(
  ticket INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  owner BLOB NOT NULL,
  clock INTEGER NOT NULL,
  alive_until INTEGER NOT NULL,
  joined_at INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  permits INTEGER NOT NULL,
  permit_limit INTEGER NOT NULL,
  ttl INTEGER NOT NULL,
  lock_delay INTEGER NOT NULL,
  min_hold INTEGER NOT NULL,
  max_hold INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  value TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  note TEXT NOT NULL,
  UNIQUE(name, owner));
CREATE INDEX waiter_by_name ON waiter(name);
CREATE TABLE done(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  run_id TEXT NOT NULL,
  owner BLOB NOT NULL,
  clock INTEGER NOT NULL,
  until INTEGER NOT NULL,
  until_unix INTEGER NOT NULL,
  remember INTEGER NOT NULL,
  UNIQUE(name, run_id));
CREATE TABLE wake(
  seq INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  owner BLOB NOT NULL,
  fence INTEGER NOT NULL,
  floor INTEGER NOT NULL);
)sql";

constexpr const char* other_tables = R"sql(
CREATE TABLE store(
  id INTEGER PRIMARY KEY CHECK (id = 1),
  file_id TEXT NOT NULL,
  fence_floor INTEGER NOT NULL);
CREATE TABLE clock(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  boot_id TEXT NOT NULL UNIQUE,
  time_namespace TEXT NOT NULL,
  met_at INTEGER NOT NULL DEFAULT 0,
  met_at_unix INTEGER NOT NULL DEFAULT 0);
CREATE TABLE tombstone(
  owner BLOB PRIMARY KEY,
  clock INTEGER NOT NULL,
  until INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX tombstone_by_end ON tombstone(until);
INSERT INTO store VALUES(1, lower(hex(randomblob(16))), 0);
)sql";

// Format 1 had one exclusive hold a name, in the row that keeps its fence. Marks of runs are judged
// by `met_at` of a later boot than their own, and there are none yet, so zero will do.
constexpr const char* before_tables_of_format_2 = R"sql(
ALTER TABLE clock ADD COLUMN met_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clock ADD COLUMN met_at_unix INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lease RENAME TO lease_1;
ALTER TABLE waiter RENAME TO waiter_1;
DROP INDEX waiter_by_name;
DROP TABLE wake;
)sql";
constexpr const char* after_tables_of_format_2 = R"sql(
INSERT INTO lease SELECT id, name, fence, fence, state, 0, 1, 0, clock, expires, owner, granted_at,
  lock_delay, min_end, max_end, host, pid, note, '' FROM lease_1;
INSERT INTO waiter SELECT ticket, name, owner, clock, alive_until, joined_at, 0, 1, 0, ttl,
  lock_delay, min_hold, max_hold, '', '', host, pid, note FROM waiter_1;
DROP TABLE lease_1;
DROP TABLE waiter_1;
)sql";
static_assert(static_cast<int>(Mode::exclusive) == 0);

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

void set_version(Database& database) {
  database.execute(("PRAGMA user_version=" + std::to_string(format_version)).c_str());
}

void create_tables(Database& database) {
  Transaction transaction(database, Transaction::Kind::write);
  if (integer_of(database, "PRAGMA user_version") != 0) {
    return;  // another process was faster
  }
  database.execute(other_tables);
  database.execute(tables_of_format_2);
  database.execute(("PRAGMA application_id=" + std::to_string(application_id)).c_str());
  set_version(database);
  transaction.commit();
}

// One transaction: whoever looks sees the old format or the new one. Processes of an older holdfast
// that have the file open are refused from then on; what they hold stays until its expiry.
void bring_up_to_date(Database& database) {
  Transaction transaction(database, Transaction::Kind::write);
  if (integer_of(database, "PRAGMA user_version") != 1) {
    return;  // another process was faster
  }
  database.execute(before_tables_of_format_2);
  database.execute(tables_of_format_2);
  database.execute(after_tables_of_format_2);
  set_version(database);
  transaction.commit();
}

std::optional<Boot> find_boot(Database& database, const HostClock& clock) {
  Statement find(database,
                 "SELECT id, time_namespace, met_at, met_at_unix FROM clock WHERE boot_id = ?1");
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
  return Boot{rows.integer(0), rows.instant(2), rows.integer(3)};
}

// What an earlier boot left behind means nothing now; only its fences count, and what is done.
Boot begin_boot(Database& database, const HostClock& clock, Instant now) {
  Transaction transaction(database, Transaction::Kind::write);
  if (const auto known = find_boot(database, clock)) {
    return *known;
  }
  Boot boot{0, now, clock.unix_us()};
  Statement(database,
            "INSERT INTO clock(boot_id, time_namespace, met_at, met_at_unix) "
            "VALUES(?1, ?2, ?3, ?4)")
      .apply(clock.boot_id, clock.time_namespace, boot.met_at, boot.met_at_unix_us);
  boot.id = integer_of(database, "SELECT last_insert_rowid()");
  Statement(database, "DELETE FROM clock WHERE id <> ?1").apply(boot.id);
  database.execute("DELETE FROM waiter; DELETE FROM tombstone");
  transaction.commit();
  return boot;
}

}  // namespace

OpenedSchema open_schema(Database& database, const HostClock& clock, Instant now) {
  const std::int64_t version = checked_version(database);
  require_wal(database);
  // The tables and the first reading of a boot's clocks have to survive a power loss.
  database.execute("PRAGMA synchronous=FULL");
  if (version == 0) {
    create_tables(database);
  } else if (version < format_version) {
    bring_up_to_date(database);
  }
  const auto known = find_boot(database, clock);
  OpenedSchema opened;
  opened.boot = known ? *known : begin_boot(database, clock, now);
  opened.file_id = text_of(database, "SELECT file_id FROM store");
  return opened;
}

void FormatCheck::require_known() {
  Statement::Rows rows = version_.run();
  require_known_version(rows.next() ? rows.integer(0) : 0);
}

}  // namespace holdfast::sqlite

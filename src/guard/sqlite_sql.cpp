#include <holdfast/guard/sqlite.hpp>

namespace holdfast {

namespace {

// A refusal is RAISE(ROLLBACK): whatever the transaction wrote before it is gone too, even for a
// caller that goes on after the error and commits.
constexpr const char* statements =
    R"sql(-- holdfast guards for SQLite 3.24 or newer. They refuse the writes of a holder that
-- was paused and came back too late, and work that was done before.
--
-- Install once per database, next to the data:   holdfast guard sql sqlite | sqlite3 app.db
--
-- Resource guard. In every transaction that writes what the lock protects:
--
--   BEGIN IMMEDIATE;
--   INSERT INTO holdfast_admit(resource, name, fence) VALUES (:resource, :name, :fence);
--   -- your writes
--   COMMIT;
--
-- resource: any text for what is protected. name: the lock, $HOLDFAST_NAME. fence: an integer,
-- $HOLDFAST_FENCE. Name a floor too, $HOLDFAST_FLOOR, where several holders are allowed.
-- A stale fence is an error ("holdfast: stale fence") and rolls the transaction back. Stop there:
-- run the sqlite3 command with -bail, or it goes on with the next statement as if nothing was.
--
-- Once guard. What must be done once has a key, which is taken in the transaction that does it:
--
--   BEGIN IMMEDIATE;
--   INSERT INTO holdfast_take(key, fence) VALUES (:key, :fence);    -- fence: or NULL, for people
--   -- your writes
--   UPDATE holdfast_once SET result = :result WHERE key = :key;     -- for whoever asks again
--   COMMIT;
--
-- A key that was taken is an error ("holdfast: done before") and rolls the transaction back; then
--   SELECT result FROM holdfast_once WHERE key = :key;
-- Forget old keys:
--   DELETE FROM holdfast_once WHERE taken_at < (SELECT ms / 1000 FROM holdfast_now) - 604800;
--
-- Row guard, where each row is written by itself and has a column fence INTEGER NOT NULL DEFAULT 0:
--   UPDATE job SET state = 'done', fence = :fence WHERE id = :id AND fence < :fence;
-- Version guard, with a column version INTEGER NOT NULL DEFAULT 0, without any lock:
--   UPDATE article SET body = :body, version = version + 1 WHERE id = :id AND version = :read;
-- Claim, to share a table of work, with columns claim INTEGER NOT NULL DEFAULT 0 and claim_until
-- INTEGER DEFAULT 0 (milliseconds since 1970; NULL: done). SQLite 3.35 or newer:
--   UPDATE job SET claim = claim + 1, claim_until = (SELECT ms FROM holdfast_now) + 300000
--     WHERE id IN (SELECT id FROM job, holdfast_now WHERE claim_until <= ms ORDER BY id LIMIT 10)
--     RETURNING id, claim;
--   UPDATE job SET state = 'done', claim_until = NULL WHERE id = :id AND claim = :claim;
-- With each of the three, no row changed (SELECT changes()) means: somebody else was here first.
CREATE TABLE IF NOT EXISTS holdfast_guard(
  resource TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  mark INTEGER NOT NULL CHECK (typeof(mark) = 'integer' AND mark > 0)
) WITHOUT ROWID;
CREATE VIEW IF NOT EXISTS holdfast_admit(resource, name, fence, floor) AS
  SELECT resource, name, mark, mark FROM holdfast_guard;
CREATE TRIGGER IF NOT EXISTS holdfast_admit_insert INSTEAD OF INSERT ON holdfast_admit
BEGIN
  SELECT RAISE(ROLLBACK, 'holdfast: resource and name must be text')
    WHERE typeof(NEW.resource) <> 'text' OR typeof(NEW.name) <> 'text' OR NEW.name = '';
  SELECT RAISE(ROLLBACK, 'holdfast: fence must be a positive integer')
    WHERE typeof(NEW.fence) <> 'integer' OR NEW.fence <= 0;
  SELECT RAISE(ROLLBACK, 'holdfast: floor must be an integer from 1 to fence')
    WHERE NEW.floor IS NOT NULL
      AND (typeof(NEW.floor) <> 'integer' OR NEW.floor <= 0 OR NEW.floor > NEW.fence);
  SELECT RAISE(ROLLBACK, 'holdfast: another lock guards this resource')
    FROM holdfast_guard WHERE resource = NEW.resource AND name <> NEW.name;
  SELECT RAISE(ROLLBACK, 'holdfast: stale fence')
    FROM holdfast_guard WHERE resource = NEW.resource AND mark > NEW.fence;
  INSERT INTO holdfast_guard(resource, name, mark)
    VALUES (NEW.resource, NEW.name, coalesce(NEW.floor, NEW.fence))
    ON CONFLICT(resource) DO UPDATE SET mark = max(mark, excluded.mark);
END;
CREATE TABLE IF NOT EXISTS holdfast_once(
  key TEXT NOT NULL PRIMARY KEY,
  fence INTEGER CHECK (fence IS NULL OR (typeof(fence) = 'integer' AND fence > 0)),
  result TEXT,
  taken_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER))
) WITHOUT ROWID;
CREATE VIEW IF NOT EXISTS holdfast_take(key, fence) AS SELECT key, fence FROM holdfast_once;
CREATE TRIGGER IF NOT EXISTS holdfast_take_insert INSTEAD OF INSERT ON holdfast_take
BEGIN
  SELECT RAISE(ROLLBACK, 'holdfast: key must be text')
    WHERE typeof(NEW.key) <> 'text' OR NEW.key = '';
  SELECT RAISE(ROLLBACK, 'holdfast: fence must be a positive integer')
    WHERE NEW.fence IS NOT NULL AND (typeof(NEW.fence) <> 'integer' OR NEW.fence <= 0);
  SELECT RAISE(ROLLBACK, 'holdfast: done before')
    FROM holdfast_once WHERE key = NEW.key;
  INSERT INTO holdfast_once(key, fence) VALUES (NEW.key, NEW.fence);
END;
CREATE VIEW IF NOT EXISTS holdfast_now(ms) AS
  SELECT CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER);
)sql";

}  // namespace

const char* guard_sql_sqlite() noexcept { return statements; }

}  // namespace holdfast

#include <holdfast/guard/sqlite.hpp>

namespace holdfast {

// One statement refuses by RAISE(ROLLBACK): whatever the transaction wrote before it is gone too,
// even for a caller that goes on after the error and commits.
const char* guard_sql_sqlite() noexcept {
  return R"sql(-- holdfast guard for SQLite 3.24 or newer: refuses the writes of a holder that
-- was paused and came back too late.
--
-- Install once per database, next to the data:   holdfast guard sql sqlite | sqlite3 app.db
--
-- Then, in every transaction that writes what the lock protects:
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
)sql";
}

}  // namespace holdfast

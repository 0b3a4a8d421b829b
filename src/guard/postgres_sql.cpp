#include <holdfast/guard/postgres.hpp>

namespace holdfast {

namespace {

// One DO statement: by itself it is one transaction, whatever sends it, and in a migration it is a
// part of that one. The functions run as their owner (SECURITY DEFINER), so that nobody who may
// write can also lower a mark; their search_path is theirs, so that no caller can put other tables
// or operators in their way.
constexpr const char* script =
    R"sql(-- holdfast guards for PostgreSQL 12 or newer. They refuse the writes of a holder that
-- was paused and came back too late, and work that was done before.
--
-- Install once per database, next to the data; again to upgrade:
--   holdfast guard sql postgres | psql -v ON_ERROR_STOP=1 shop
-- Then let the roles that write use it:
--   GRANT USAGE ON SCHEMA holdfast TO app;
--
-- Resource guard. In every transaction that writes what the lock protects, before the writes:
--
--   BEGIN;
--   SELECT holdfast.admit(:resource, :name, :fence);    -- several: holdfast.admit_all(ARRAY[...],
--   -- your writes
--   COMMIT;
--
-- resource: any text for what is protected. name: the lock, $HOLDFAST_NAME. fence: a bigint,
-- $HOLDFAST_FENCE. Add a floor, $HOLDFAST_FLOOR, where several holders are allowed. An error has
-- one of these SQLSTATEs and ends the transaction; stop there (psql: -v ON_ERROR_STOP=1):
--   HF001 stale fence: a newer holder was here     HF002 another lock guards this resource
--   HF003 no fence, name, resource or key          HF004 a result for a key that was not taken
--   HF005 installed by a newer holdfast            HF006 the key has a result
-- Without BEGIN each statement is a transaction of its own and nothing is guarded.
--
-- Once guard. What must be done once has a key, which is taken in the transaction that does it:
--
--   BEGIN;
--   SELECT first, result FROM holdfast.once(:key, :fence);    -- fence: or leave it out; for people
--   -- first is false: it was done before, ROLLBACK and use result; else your writes, then
--   SELECT holdfast.keep(:key, :result);                      -- for whoever asks again
--   COMMIT;
--
-- Forget old keys: SELECT holdfast.forget('30 days');
--
-- Row guard, where each row is written by itself and has a column fence bigint NOT NULL DEFAULT 0:
--   UPDATE job SET state = 'done', fence = :fence WHERE id = :id AND fence < :fence;
-- Version guard, with a column version bigint NOT NULL DEFAULT 0, without any lock:
--   UPDATE article SET body = :body, version = version + 1 WHERE id = :id AND version = :read;
-- Claim, to share a table of work, in the transaction that does it:
--   SELECT id FROM job WHERE state = 'open' ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;
-- With the first two, no row changed means: somebody else was here first.
DO $holdfast$
DECLARE
  ours CONSTANT integer := 1;
  present integer;
  installer text;
  path CONSTANT text := pg_catalog.current_setting('search_path');
BEGIN
  PERFORM pg_catalog.set_config('search_path', 'pg_catalog', true);
  PERFORM pg_advisory_xact_lock(7521962890212737895);  -- two hosts at once: one after the other
  IF to_regnamespace('holdfast') IS NULL THEN
    IF NOT has_database_privilege(current_database(), 'CREATE') THEN
      RAISE EXCEPTION 'holdfast: role "%" may not create schema holdfast in database "%": '
        'let its owner run CREATE SCHEMA holdfast AUTHORIZATION %',
        current_user, current_database(), quote_ident(current_user)
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    CREATE SCHEMA holdfast;
  ELSIF NOT has_schema_privilege('holdfast', 'USAGE') THEN
    RAISE EXCEPTION 'holdfast: role "%" may not use schema holdfast: '
      'let its owner run GRANT USAGE, CREATE ON SCHEMA holdfast TO %',
      current_user, quote_ident(current_user) USING ERRCODE = 'insufficient_privilege';
  ELSIF to_regprocedure('holdfast.guard_version()') IS NOT NULL THEN
    EXECUTE 'SELECT holdfast.guard_version()' INTO present;
    SELECT pg_get_userbyid(proowner) INTO installer FROM pg_proc
      WHERE oid = to_regprocedure('holdfast.guard_version()');
  END IF;
  IF present > ours THEN
    RAISE EXCEPTION 'holdfast: the guards here have version %, this holdfast knows version %: '
      'use a newer one',
      present, ours USING ERRCODE = 'HF005';
  END IF;
  IF present = ours THEN
    PERFORM set_config('search_path', path, true);
    RETURN;
  END IF;
  IF NOT has_schema_privilege('holdfast', 'CREATE') THEN
    RAISE EXCEPTION 'holdfast: role "%" may not create in schema holdfast: '
      'let its owner run GRANT USAGE, CREATE ON SCHEMA holdfast TO %',
      current_user, quote_ident(current_user) USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF installer IS NOT NULL AND NOT pg_has_role(installer, 'USAGE') THEN
    RAISE EXCEPTION 'holdfast: version % of the guards belongs to role "%": upgrade as that role',
      present, installer USING ERRCODE = 'insufficient_privilege';
  END IF;

  IF to_regclass('holdfast.guard_mark') IS NULL THEN
    -- Room in each page keeps a mark that is raised often in its page (HOT).
    CREATE TABLE holdfast.guard_mark (
      resource text COLLATE "C" NOT NULL PRIMARY KEY,
      name text COLLATE "C" NOT NULL,
      mark bigint NOT NULL CHECK (mark > 0)
    ) WITH (fillfactor = 50);
  END IF;
  IF to_regclass('holdfast.once_key') IS NULL THEN
    CREATE TABLE holdfast.once_key (
      key text COLLATE "C" NOT NULL PRIMARY KEY,
      fence bigint CHECK (fence > 0),
      result text,
      taken_at timestamptz NOT NULL DEFAULT now()
    );
  END IF;

  CREATE OR REPLACE FUNCTION holdfast.admit(resource text, name text, fence bigint,
                                            floor bigint DEFAULT NULL)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
  #variable_conflict use_column
  DECLARE
    known record;
  BEGIN
    IF admit.resource IS NULL THEN
      RAISE EXCEPTION 'holdfast: the resource is missing' USING ERRCODE = 'HF003';
    END IF;
    IF admit.name IS NULL OR admit.name = '' THEN
      RAISE EXCEPTION 'holdfast: the lock''s name is missing' USING ERRCODE = 'HF003';
    END IF;
    IF admit.fence IS NULL OR admit.fence <= 0 THEN
      RAISE EXCEPTION 'holdfast: a fence is positive: this is not the fence of a lease'
        USING ERRCODE = 'HF003';
    END IF;
    IF admit.floor <= 0 OR admit.floor > admit.fence THEN
      RAISE EXCEPTION 'holdfast: a floor is positive and not above the fence'
        USING ERRCODE = 'HF003';
    END IF;
    -- Written even when the mark stays: a snapshot that is older than the last admitted write
    -- must fail to serialise, not read on.
    INSERT INTO holdfast.guard_mark AS m (resource, name, mark)
      VALUES (admit.resource, admit.name, coalesce(admit.floor, admit.fence))
      ON CONFLICT (resource) DO UPDATE SET mark = greatest(m.mark, excluded.mark)
      WHERE m.name = excluded.name AND m.mark <= admit.fence;
    IF FOUND THEN
      RETURN;
    END IF;
    SELECT m.name, m.mark INTO known FROM holdfast.guard_mark AS m
      WHERE m.resource = admit.resource COLLATE "C";
    IF known.name <> admit.name COLLATE "C" THEN
      RAISE EXCEPTION 'holdfast: resource "%" is guarded by the lock "%"',
        admit.resource, known.name USING ERRCODE = 'HF002';
    END IF;
    RAISE EXCEPTION 'holdfast: stale fence: resource "%" has seen fence %, this one is %',
      admit.resource, known.mark, admit.fence USING ERRCODE = 'HF001';
  END
  $body$;

  CREATE OR REPLACE FUNCTION holdfast.admit_all(resources text[], name text, fence bigint,
                                                floor bigint DEFAULT NULL)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
  DECLARE
    resource text;
  BEGIN
    IF admit_all.resources IS NULL OR cardinality(admit_all.resources) = 0 THEN
      RAISE EXCEPTION 'holdfast: the resource is missing' USING ERRCODE = 'HF003';
    END IF;
    FOR resource IN SELECT DISTINCT r COLLATE "C" FROM unnest(admit_all.resources) AS r ORDER BY 1
    LOOP
      PERFORM holdfast.admit(resource, admit_all.name, admit_all.fence, admit_all.floor);
    END LOOP;
  END
  $body$;

  CREATE OR REPLACE FUNCTION holdfast.once(key text, fence bigint DEFAULT NULL,
                                           OUT first boolean, OUT result text, OUT by_fence bigint)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
  #variable_conflict use_column
  BEGIN
    IF once.key IS NULL OR once.key = '' THEN
      RAISE EXCEPTION 'holdfast: the key is missing' USING ERRCODE = 'HF003';
    END IF;
    IF once.fence <= 0 THEN
      RAISE EXCEPTION 'holdfast: a fence is positive: this is not the fence of a lease'
        USING ERRCODE = 'HF003';
    END IF;
    LOOP
      INSERT INTO holdfast.once_key(key, fence) VALUES (once.key, once.fence)
        ON CONFLICT (key) DO NOTHING;
      first := FOUND;
      IF first THEN
        RETURN;
      END IF;
      SELECT k.result, k.fence INTO once.result, once.by_fence FROM holdfast.once_key AS k
        WHERE k.key = once.key COLLATE "C";
      IF FOUND THEN
        RETURN;
      END IF;  -- forgotten between the two statements
    END LOOP;
  END
  $body$;

  CREATE OR REPLACE FUNCTION holdfast.keep(key text, result text)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
  #variable_conflict use_column
  BEGIN
    UPDATE holdfast.once_key AS k SET result = keep.result
      WHERE k.key = keep.key COLLATE "C" AND k.result IS NULL;
    IF FOUND THEN
      RETURN;
    END IF;
    PERFORM FROM holdfast.once_key AS k WHERE k.key = keep.key COLLATE "C";
    IF FOUND THEN
      RAISE EXCEPTION 'holdfast: key "%" has a result', keep.key USING ERRCODE = 'HF006';
    END IF;
    RAISE EXCEPTION 'holdfast: key "%" was not taken', keep.key USING ERRCODE = 'HF004';
  END
  $body$;

  CREATE OR REPLACE FUNCTION holdfast.forget(age interval)
    RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
  DECLARE
    gone bigint;
  BEGIN
    DELETE FROM holdfast.once_key AS k WHERE k.taken_at < clock_timestamp() - forget.age;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
  END
  $body$;

  CREATE OR REPLACE FUNCTION holdfast.guard_version() RETURNS integer LANGUAGE sql IMMUTABLE
    AS 'SELECT 1';
  PERFORM set_config('search_path', path, true);
END
$holdfast$;
)sql";

}  // namespace

const char* guard_sql_postgres() noexcept { return script; }

}  // namespace holdfast

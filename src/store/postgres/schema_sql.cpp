#include "store/postgres/schema_sql.hpp"

namespace holdfast::postgres {

const std::string& install_sql() {
  static const std::string text = std::string{sql::install_head} + sql::tables + sql::rules +
                                  sql::verbs + sql::views + sql::sessions + sql::install_tail;
  return text;
}

namespace sql {

// The functions run as their owner (SECURITY DEFINER), so that whoever may lock cannot also change
// a fence; their search_path is theirs, so that no caller can put other tables or operators in
// their way. Schema `holdfast` is the guards' as well; all that is the store's is called lock_*.
const char* const install_head = R"sql(
DO $holdfast$
DECLARE
  ours CONSTANT integer := 1;
  present integer;
  installer text;
  path CONSTANT text := pg_catalog.current_setting('search_path');
BEGIN
  PERFORM pg_catalog.set_config('search_path', 'pg_catalog', true);
  PERFORM pg_catalog.set_config('client_min_messages', 'warning', true);
  PERFORM pg_advisory_xact_lock(7521962890212737895);  -- two hosts at once: one after the other
  -- By a look into the table: what this session knew of names may be older than the lock.
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'holdfast') THEN
    IF NOT has_database_privilege(current_database(), 'CREATE') THEN
      RAISE EXCEPTION 'holdfast: role "%" may not create schema holdfast in database "%": '
        'let its owner run CREATE SCHEMA holdfast AUTHORIZATION %',
        current_user, current_database(), quote_ident(current_user)
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    CREATE SCHEMA holdfast;
  ELSIF NOT has_schema_privilege('holdfast', 'USAGE') THEN
    RAISE EXCEPTION 'holdfast: role "%" may not use schema holdfast: '
      'let its owner run GRANT USAGE ON SCHEMA holdfast TO %',
      current_user, quote_ident(current_user) USING ERRCODE = 'insufficient_privilege';
  ELSIF to_regprocedure('holdfast.lock_version()') IS NOT NULL THEN
    EXECUTE 'SELECT holdfast.lock_version()' INTO present;
    SELECT pg_get_userbyid(proowner) INTO installer FROM pg_proc
      WHERE oid = to_regprocedure('holdfast.lock_version()');
  END IF;
  IF present > ours THEN
    RAISE EXCEPTION 'holdfast: the locks here have version %, this holdfast knows version %: '
      'use a newer one', present, ours USING ERRCODE = 'HF005';
  END IF;
  IF present = ours THEN
    PERFORM set_config('search_path', path, true);
    RETURN;
  END IF;
  IF NOT has_schema_privilege('holdfast', 'CREATE') THEN
    RAISE EXCEPTION 'holdfast: role "%" may not create the tables of the locks in schema holdfast: '
      'install them as its owner, or let it run GRANT CREATE ON SCHEMA holdfast TO %',
      current_user, quote_ident(current_user) USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF installer IS NOT NULL AND NOT pg_has_role(installer, 'USAGE') THEN
    RAISE EXCEPTION 'holdfast: version % of the locks belongs to role "%": upgrade as that role',
      present, installer USING ERRCODE = 'insufficient_privilege';
  END IF;
)sql";

// All times are microseconds since 1970 on the server's clock. Room in each page keeps a row that
// is written often in its page (HOT); few dead rows are worth a vacuum, for the live ones are few.
const char* const tables = R"sql(
  CREATE TABLE holdfast.lock_name (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    fence bigint NOT NULL,
    turn bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
  CREATE TABLE holdfast.lock_lease (
    name text COLLATE "C" NOT NULL,
    fence bigint NOT NULL,
    owner text COLLATE "C" NOT NULL,
    client text COLLATE "C" NOT NULL,
    state smallint NOT NULL,  -- 1 held, 2 held and marked by an operator, 3 tombstone of min_hold
    mode smallint NOT NULL,   -- 0 exclusive, 1 shared
    permits integer NOT NULL,
    permit_limit integer NOT NULL,
    floor bigint NOT NULL,
    granted_at bigint NOT NULL,
    expires bigint NOT NULL,
    lock_delay bigint NOT NULL,
    min_end bigint,
    max_end bigint,
    value bytea NOT NULL,
    host text NOT NULL,
    pid bigint NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (name, fence)
  ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000,
          autovacuum_vacuum_scale_factor = 0.05);
  CREATE TABLE holdfast.lock_waiter (
    ticket bigint GENERATED ALWAYS AS IDENTITY,
    name text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    client text COLLATE "C" NOT NULL,
    mode smallint NOT NULL,
    permits integer NOT NULL,
    permit_limit integer NOT NULL,
    alive_until bigint NOT NULL,
    joined_at bigint NOT NULL,
    lock_delay bigint NOT NULL,
    min_hold bigint NOT NULL,
    max_hold bigint NOT NULL,
    run_id bytea NOT NULL,
    value bytea NOT NULL,
    host text NOT NULL,
    pid bigint NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (name, ticket),
    UNIQUE (name, owner)
  ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000,
          autovacuum_vacuum_scale_factor = 0.05);
  CREATE TABLE holdfast.lock_tombstone (
    owner text COLLATE "C" NOT NULL PRIMARY KEY,
    ends bigint NOT NULL
  );
  CREATE INDEX lock_tombstone_by_end ON holdfast.lock_tombstone (ends);
  CREATE TABLE holdfast.lock_done (
    name text COLLATE "C" NOT NULL,
    run_id bytea NOT NULL,
    owner text COLLATE "C" NOT NULL,
    ends bigint NOT NULL,
    PRIMARY KEY (name, run_id)
  );
  CREATE INDEX lock_done_by_end ON holdfast.lock_done (ends);
  CREATE TABLE holdfast.lock_floor (
    one boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (one),
    fence bigint NOT NULL
  );
  INSERT INTO holdfast.lock_floor(fence) VALUES (0);

  CREATE TYPE holdfast.lock_claim AS (
    name text, owner text, client text, mode smallint, permits integer, permit_limit integer,
    ttl bigint, liveness bigint, min_hold bigint, max_hold bigint, lock_delay bigint, run_id bytea,
    value bytea, host text, pid bigint, note text
  );
  -- The one shape of every answer; `what` says which columns mean anything.
  CREATE TYPE holdfast.lock_answer AS (
    what text, name text, owner text, state integer, mode integer, permits integer,
    permit_limit integer, fence bigint, floor bigint, age bigint, time_left bigint, value bytea,
    host text, pid bigint, note text
  );
)sql";

const char* const install_tail = R"sql(
  CREATE FUNCTION holdfast.lock_version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';
  PERFORM set_config('search_path', path, true);
END
$holdfast$;
)sql";

}  // namespace sql

}  // namespace holdfast::postgres

#include "store/postgres/schema_sql.hpp"

namespace holdfast::postgres::sql {

// mode=advisory. What excludes is a lock of the server's own, held by a session; the tables only
// carry what it cannot: the key of each name (so no two names ever share one), the last fence, and
// who holds, for people. A row of lock_hold means nothing unless its session holds the lock.
const char* const sessions = R"sql(
  CREATE TABLE holdfast.lock_key (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    key bigint NOT NULL UNIQUE,
    fence bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE holdfast.lock_hold (
    name text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    client text COLLATE "C" NOT NULL,
    backend integer NOT NULL,
    key bigint NOT NULL,
    state smallint NOT NULL,
    mode smallint NOT NULL,
    fence bigint NOT NULL,
    floor bigint NOT NULL,
    granted_at bigint NOT NULL,
    value bytea NOT NULL,
    host text NOT NULL,
    pid bigint NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (name, owner)
  ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000);
  CREATE INDEX lock_hold_by_client ON holdfast.lock_hold (client);

  CREATE FUNCTION holdfast.lock_is_live(h holdfast.lock_hold) RETURNS boolean
    LANGUAGE sql AS $body$
    SELECT EXISTS (SELECT FROM pg_catalog.pg_locks AS l
      WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.pid = h.backend
        AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d
                            WHERE d.datname = pg_catalog.current_database())
        AND ((l.classid::pg_catalog.int8 << 32) | l.objid::pg_catalog.int8) = h.key)
  $body$;

  -- The key of a name, and the turn at it.
  CREATE FUNCTION holdfast.lock_key_of(p_name text) RETURNS bigint LANGUAGE plpgsql AS $body$
  DECLARE
    v_key bigint;
    v_seed bigint := 0;
  BEGIN
    LOOP
      SELECT key INTO v_key FROM holdfast.lock_key WHERE name = p_name COLLATE "C" FOR UPDATE;
      IF FOUND THEN
        RETURN v_key;
      END IF;
      -- A key that another name has already is passed over.
      INSERT INTO holdfast.lock_key(name, key, fence)
        VALUES (p_name, hashtextextended(p_name, v_seed), 0) ON CONFLICT DO NOTHING;
      v_seed := v_seed + 1;
    END LOOP;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_hold_rows(p_name text) RETURNS SETOF holdfast.lock_answer
    LANGUAGE sql AS $body$
    SELECT 'holder', h.name, h.owner, h.state::pg_catalog.int4, h.mode::pg_catalog.int4, 1, 0,
           h.fence, h.floor, holdfast.lock_now() - h.granted_at, 0::pg_catalog.int8, h.value,
           h.host, h.pid, h.note
      FROM holdfast.lock_hold AS h
      WHERE h.name = p_name COLLATE "C" AND holdfast.lock_is_live(h) ORDER BY h.fence
  $body$;

  -- `age` of the answer is the key. The caller must know that its own session holds nothing of
  -- this name that excludes the claim: a session may take its own lock twice.
  CREATE FUNCTION holdfast.lock_try(c holdfast.lock_claim) RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_key CONSTANT bigint := holdfast.lock_key_of(c.name);
    v_now CONSTANT bigint := holdfast.lock_now();
    a holdfast.lock_answer;
  BEGIN
    IF NOT (CASE c.mode WHEN 0 THEN pg_try_advisory_lock(v_key)
                        ELSE pg_try_advisory_lock_shared(v_key) END) THEN
      a.what := 'busy';
      RETURN NEXT a;
      RETURN QUERY SELECT * FROM holdfast.lock_hold_rows(c.name) LIMIT 1;
      RETURN;
    END IF;
    PERFORM holdfast.lock_durably();
    DELETE FROM holdfast.lock_hold AS h WHERE name = c.name COLLATE "C" AND (c.mode = 0
      OR (h.backend = pg_backend_pid() AND h.client <> c.client COLLATE "C")
      OR NOT holdfast.lock_is_live(h));
    UPDATE holdfast.lock_key SET fence = greatest(fence + 1, v_now)
      WHERE name = c.name COLLATE "C" RETURNING fence INTO a.fence;
    SELECT least(min(fence), a.fence) INTO a.floor FROM holdfast.lock_hold
      WHERE name = c.name COLLATE "C";
    INSERT INTO holdfast.lock_hold(name, owner, client, backend, key, state, mode, fence, floor,
        granted_at, value, host, pid, note)
      VALUES (c.name, c.owner, c.client, pg_backend_pid(), v_key, 1, c.mode, a.fence, a.floor,
        v_now, c.value, c.host, c.pid, c.note);
    a.what := 'granted';
    a.age := v_key;
    a.time_left := c.ttl;
    RETURN NEXT a;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_verify(p_names text[], p_owners text[])
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    r record;
    a holdfast.lock_answer;
  BEGIN
    FOR r IN SELECT x.nr, h.state, h.fence, h.floor FROM unnest(p_names, p_owners) WITH ORDINALITY
        AS x(name, owner, nr) LEFT JOIN holdfast.lock_hold AS h ON h.name = x.name COLLATE "C"
        AND h.owner = x.owner COLLATE "C" AND h.backend = pg_backend_pid() ORDER BY x.nr LOOP
      a.age := r.nr;
      a.what := CASE r.state WHEN 1 THEN 'renewed' WHEN 2 THEN 'broken' ELSE 'taken' END;
      a.fence := r.fence;
      a.floor := r.floor;
      RETURN NEXT a;
    END LOOP;
  END
  $body$;

  -- An unlock of what is not held is no error to the server, but it is news to us.
  CREATE FUNCTION holdfast.lock_drop(p_name text, p_owner text, p_key bigint, p_mode integer)
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_unlocked boolean;
    a holdfast.lock_answer;
  BEGIN
    PERFORM holdfast.lock_key_of(p_name);
    DELETE FROM holdfast.lock_hold WHERE name = p_name COLLATE "C"
      AND owner = p_owner COLLATE "C" AND backend = pg_backend_pid();
    a.what := CASE WHEN FOUND THEN 'released' ELSE 'not_owner' END;
    v_unlocked := CASE p_mode WHEN 0 THEN pg_advisory_unlock(p_key)
                              ELSE pg_advisory_unlock_shared(p_key) END;
    IF NOT v_unlocked THEN
      a.what := 'not_owner';
    END IF;
    RETURN NEXT a;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_amend_hold(p_name text, p_owner text, p_key bigint, p_mode integer,
                                           p_value bytea) RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v record;
    a holdfast.lock_answer;
  BEGIN
    SELECT state, mode INTO v FROM holdfast.lock_hold WHERE name = p_name COLLATE "C"
      AND owner = p_owner COLLATE "C" AND backend = pg_backend_pid() FOR UPDATE;
    IF NOT FOUND THEN
      a.what := 'taken';
    ELSIF v.state = 2 THEN
      a.what := 'broken';
    ELSIF v.mode = 1 AND p_mode = 0 THEN
      a.what := 'contradicts';
      a.note := 'a shared lease cannot become an exclusive one';
    ELSE
      UPDATE holdfast.lock_hold SET value = p_value, mode = p_mode WHERE name = p_name COLLATE "C"
        AND owner = p_owner COLLATE "C";
      IF v.mode = 0 AND p_mode = 1 THEN  -- a session is never in its own way
        PERFORM pg_advisory_lock_shared(p_key);
        PERFORM pg_advisory_unlock(p_key);
      END IF;
      a.what := 'amended';
    END IF;
    RETURN NEXT a;
  END
  $body$;

  -- Nobody can take a lock from a session; but the name can get another key.
  CREATE FUNCTION holdfast.lock_break_hold(p_name text, p_now_too boolean)
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_seed bigint := 1;
  BEGIN
    PERFORM FROM holdfast.lock_key WHERE name = p_name COLLATE "C" FOR UPDATE;
    RETURN QUERY SELECT * FROM holdfast.lock_hold_rows(p_name);
    IF NOT FOUND THEN
      RETURN;
    END IF;
    IF NOT p_now_too THEN
      UPDATE holdfast.lock_hold SET state = 2 WHERE name = p_name COLLATE "C";
      RETURN;
    END IF;
    DELETE FROM holdfast.lock_hold WHERE name = p_name COLLATE "C";
    LOOP
      BEGIN
        UPDATE holdfast.lock_key SET key = hashtextextended(p_name, holdfast.lock_now() + v_seed)
          WHERE name = p_name COLLATE "C";
        RETURN;
      EXCEPTION WHEN unique_violation THEN
        v_seed := v_seed + 1;
      END;
    END LOOP;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_broken_holds(p_client text) RETURNS SETOF holdfast.lock_answer
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    SELECT 'holder', name, owner, state::int4, mode::int4, 1, 0, fence, floor, 0::int8, 0::int8,
        value, host, pid, note
      FROM holdfast.lock_hold WHERE client = p_client COLLATE "C" AND state = 2
  $body$;

  CREATE FUNCTION holdfast.lock_inspect_holds(p_name text) RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    a holdfast.lock_answer;
  BEGIN
    a.what := 'name';
    a.name := p_name;
    SELECT fence INTO a.fence FROM holdfast.lock_key WHERE name = p_name COLLATE "C";
    RETURN NEXT a;
    RETURN QUERY SELECT * FROM holdfast.lock_hold_rows(p_name);
  END
  $body$;

  CREATE FUNCTION holdfast.lock_list_holds(p_prefix text, p_after text)
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_looked_at integer := 0;
    v_name text;
    a holdfast.lock_answer;
  BEGIN
    FOR v_name IN SELECT DISTINCT h.name FROM holdfast.lock_hold AS h
        WHERE h.name >= p_prefix COLLATE "C" AND h.name > p_after COLLATE "C"
          AND left(h.name, length(p_prefix)) = p_prefix COLLATE "C"
        ORDER BY h.name LIMIT 200 LOOP
      v_looked_at := v_looked_at + 1;
      IF EXISTS (SELECT FROM holdfast.lock_hold_rows(v_name)) THEN
        RETURN QUERY SELECT * FROM holdfast.lock_inspect_holds(v_name);
      END IF;
      IF v_looked_at = 200 THEN
        a.what := 'next';
        a.name := v_name;
        RETURN NEXT a;
      END IF;
    END LOOP;
  END
  $body$;
)sql";

}  // namespace holdfast::postgres::sql

#include "store/postgres/schema_sql.hpp"

namespace holdfast::postgres::sql {

// docs/internals/store-rules.md in PL/pgSQL. The row of a name in lock_name is what its verbs take
// turns by. Each statement of a volatile function sees what was committed before it (READ
// COMMITTED), so whoever has the turn sees all that was done before. Where a role or a database has
// a stricter default, taking the turn is a write: then a snapshot that is too old fails to
// serialise (40001) and the client asks again.
const char* const rules = R"sql(
  CREATE FUNCTION holdfast.lock_now() RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::pg_catalog.int8';

  -- What a holder or a waiter counts on must outlive a crash of the server.
  CREATE FUNCTION holdfast.lock_durably() RETURNS void LANGUAGE plpgsql AS $body$
  BEGIN
    IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
  END
  $body$;

  -- Takes the turn at a name. Null last fence: the name is not known, and `create` is false.
  CREATE FUNCTION holdfast.lock_enter(p_name text, p_create boolean) RETURNS bigint
    LANGUAGE plpgsql AS $body$
  DECLARE
    v_last bigint;
    v_strict CONSTANT boolean := current_setting('transaction_isolation') <> 'read committed';
  BEGIN
    LOOP
      IF v_strict THEN
        UPDATE holdfast.lock_name SET turn = turn + 1 WHERE name = p_name COLLATE "C"
          RETURNING fence INTO v_last;
      ELSE
        SELECT fence INTO v_last FROM holdfast.lock_name WHERE name = p_name COLLATE "C"
          FOR UPDATE;
      END IF;
      IF FOUND OR NOT p_create THEN
        RETURN v_last;
      END IF;
      INSERT INTO holdfast.lock_name(name, fence) VALUES (p_name, 0) ON CONFLICT DO NOTHING;
      IF FOUND THEN
        -- After the insert: whoever removed the row before has raised the floor by now.
        IF v_strict THEN
          PERFORM FROM holdfast.lock_floor FOR SHARE;
        END IF;
        UPDATE holdfast.lock_name SET fence = (SELECT f.fence FROM holdfast.lock_floor AS f)
          WHERE name = p_name COLLATE "C" RETURNING fence INTO v_last;
        RETURN v_last;
      END IF;
    END LOOP;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_fits(p_name text, p_owner text, p_mode integer, p_permits integer,
                                     p_limit integer, p_now bigint) RETURNS boolean
    LANGUAGE plpgsql AS $body$
  DECLARE
    v record;
  BEGIN
    SELECT count(*) AS records, coalesce(sum(permits), 0) AS taken,
           coalesce(bool_or(mode = 0), false) AS writer,
           coalesce(bool_or(owner = p_owner COLLATE "C"), false) AS ours
      INTO v FROM holdfast.lock_lease WHERE name = p_name COLLATE "C" AND expires > p_now;
    IF v.records = 0 THEN
      RETURN true;
    END IF;
    IF p_mode = 0 OR v.ours THEN  -- a broken holder that asks again waits behind itself
      RETURN false;
    END IF;
    RETURN CASE WHEN p_limit = 0 THEN NOT v.writer ELSE v.taken + p_permits <= p_limit END;
  END
  $body$;

  -- Writes a hold with the next fence of its name. Without `p_provisional_end` a full lease.
  CREATE FUNCTION holdfast.lock_grant(c holdfast.lock_claim, p_provisional_end bigint,
                                      p_now bigint, OUT v_fence bigint, OUT v_floor bigint,
                                      OUT v_ttl bigint)
    LANGUAGE plpgsql AS $body$
  DECLARE
    v_end bigint;
    v_others record;
    v_min_end CONSTANT bigint := CASE WHEN c.min_hold > 0 THEN p_now + c.min_hold END;
    v_max_end CONSTANT bigint :=
      CASE WHEN c.max_hold > 0 THEN p_now + c.max_hold + c.lock_delay END;
  BEGIN
    PERFORM holdfast.lock_durably();
    UPDATE holdfast.lock_name SET fence = greatest(fence + 1, p_now)
      WHERE name = c.name COLLATE "C" AND fence < 9223372036854775807 RETURNING fence INTO v_fence;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'holdfast: the fences of % are used up', c.name USING ERRCODE = 'HF007';
    END IF;
    SELECT min(fence) FILTER (WHERE state <> 3 AND expires > p_now) AS lowest,
           coalesce(bool_or(expires <= p_now), false) AS ended
      INTO v_others FROM holdfast.lock_lease WHERE name = c.name COLLATE "C";
    v_floor := least(v_others.lowest, v_fence);
    IF v_others.ended THEN
      DELETE FROM holdfast.lock_lease WHERE name = c.name COLLATE "C" AND expires <= p_now;
    END IF;
    v_end := least(coalesce(p_provisional_end, p_now + c.ttl) + c.lock_delay, v_max_end);
    v_ttl := greatest(v_end - c.lock_delay - p_now, 0);
    IF p_provisional_end IS NULL THEN
      v_end := greatest(v_end, v_min_end);
    END IF;
    INSERT INTO holdfast.lock_lease(name, fence, owner, client, state, mode, permits, permit_limit,
        floor, granted_at, expires, lock_delay, min_end, max_end, value, host, pid, note)
      VALUES (c.name, v_fence, c.owner, c.client, 1, c.mode, c.permits, c.permit_limit, v_floor,
        p_now, v_end, c.lock_delay, v_min_end, v_max_end, c.value, c.host, c.pid, c.note);
  END
  $body$;

  -- Moves the expiry of a hold; says how long the holder may count on.
  CREATE FUNCTION holdfast.lock_refresh(p_name text, p_fence bigint, p_ttl bigint, p_now bigint)
    RETURNS bigint LANGUAGE plpgsql AS $body$
  DECLARE
    v_left bigint;
  BEGIN
    PERFORM holdfast.lock_durably();
    UPDATE holdfast.lock_lease
      SET expires = greatest(least(p_now + p_ttl + lock_delay, max_end), min_end)
      WHERE name = p_name COLLATE "C" AND fence = p_fence
      RETURNING greatest(least(p_now + p_ttl + lock_delay, max_end) - lock_delay - p_now, 0)
      INTO v_left;
    RETURN v_left;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_is_done(p_name text, p_run bytea, p_now bigint) RETURNS boolean
    LANGUAGE plpgsql AS $body$
  BEGIN
    RETURN length(p_run) > 0 AND EXISTS (SELECT FROM holdfast.lock_done
      WHERE name = p_name COLLATE "C" AND run_id = p_run AND ends > p_now);
  END
  $body$;

  -- Grants the head of the queue, and those behind it, as long as they fit; not further than
  -- `p_stop`. Returns who waits first then; its name is null if nobody does.
  CREATE FUNCTION holdfast.lock_serve(p_name text, p_stop text, p_now bigint)
    RETURNS holdfast.lock_waiter LANGUAGE plpgsql AS $body$
  DECLARE
    w holdfast.lock_waiter;
    g record;
  BEGIN
    LOOP
      SELECT * INTO w FROM holdfast.lock_waiter WHERE name = p_name COLLATE "C"
        ORDER BY ticket LIMIT 1;
      IF NOT FOUND THEN
        RETURN NULL;
      END IF;
      IF w.alive_until < p_now THEN
        NULL;  -- it has lost its place
      ELSIF w.owner = p_stop COLLATE "C" THEN
        RETURN w;
      ELSIF holdfast.lock_is_done(p_name, w.run_id, p_now) THEN
        PERFORM pg_notify('holdfast_' || w.client, 'look ' || w.owner);
      ELSIF holdfast.lock_fits(p_name, w.owner, w.mode, w.permits, w.permit_limit, p_now) THEN
        g := holdfast.lock_grant(ROW(w.name, w.owner, w.client, w.mode, w.permits, w.permit_limit,
          0, 0, w.min_hold, w.max_hold, w.lock_delay, w.run_id, w.value, w.host, w.pid,
          w.note)::holdfast.lock_claim, w.alive_until, p_now);
        PERFORM pg_notify('holdfast_' || w.client,
                          'granted ' || w.owner || ' ' || g.v_fence || ' ' || g.v_floor);
      ELSE
        RETURN w;
      END IF;
      DELETE FROM holdfast.lock_waiter WHERE name = p_name COLLATE "C" AND ticket = w.ticket;
    END LOOP;
  END
  $body$;

  -- Null, or how the claim contradicts the way in which the name is used.
  CREATE FUNCTION holdfast.lock_contradiction(p_name text, p_limit integer, p_now bigint)
    RETURNS text LANGUAGE plpgsql AS $body$
  DECLARE
    v_limit integer;
  BEGIN
    SELECT permit_limit INTO v_limit FROM holdfast.lock_lease
      WHERE name = p_name COLLATE "C" AND expires > p_now LIMIT 1;
    IF NOT FOUND THEN
      SELECT permit_limit INTO v_limit FROM holdfast.lock_waiter
        WHERE name = p_name COLLATE "C" AND alive_until >= p_now ORDER BY ticket LIMIT 1;
    END IF;
    IF NOT FOUND OR v_limit = p_limit THEN
      RETURN NULL;
    END IF;
    RETURN 'the name is in use as '
      || CASE v_limit WHEN 0 THEN 'a lock' ELSE 'a semaphore with limit ' || v_limit END
      || ', not as '
      || CASE p_limit WHEN 0 THEN 'a lock' ELSE 'a semaphore with limit ' || p_limit END;
  END
  $body$;

  -- Who stands in the way, and when the first of them may be gone.
  CREATE FUNCTION holdfast.lock_in_the_way(p_what text, p_name text, p_last bigint, p_now bigint)
    RETURNS SETOF holdfast.lock_answer LANGUAGE plpgsql AS $body$
  DECLARE
    a holdfast.lock_answer;
  BEGIN
    a.what := p_what;
    a.fence := p_last;
    SELECT coalesce(min(expires) - p_now, 0) INTO a.time_left FROM holdfast.lock_lease
      WHERE name = p_name COLLATE "C" AND expires > p_now;
    RETURN NEXT a;
    RETURN QUERY SELECT * FROM holdfast.lock_holders(p_name, p_now) LIMIT 1;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_holders(p_name text, p_now bigint)
    RETURNS SETOF holdfast.lock_answer LANGUAGE sql AS $body$
    SELECT 'holder', name, owner, state::pg_catalog.int4, mode::pg_catalog.int4, permits,
           permit_limit, fence, floor, p_now - granted_at, expires - p_now, value, host, pid, note
      FROM holdfast.lock_lease WHERE name = p_name COLLATE "C" AND expires > p_now ORDER BY fence
  $body$;

  -- Removes a few rows that nobody needs any more. The names on one page of the table, chosen by
  -- chance, are looked at: any page may be next, so no long-lived row can hide the others.
  CREATE FUNCTION holdfast.lock_sweep(p_now bigint) RETURNS void LANGUAGE plpgsql AS $body$
  DECLARE
    v_pages CONSTANT bigint := pg_relation_size('holdfast.lock_name')
                               / current_setting('block_size')::bigint;
    v_page CONSTANT bigint := floor(random() * v_pages);
    v_name text;
    v_fence bigint;
  BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      RETURN;  -- what it judges by might be old
    END IF;
    DELETE FROM holdfast.lock_tombstone WHERE owner IN (SELECT owner FROM holdfast.lock_tombstone
      WHERE ends <= p_now ORDER BY ends LIMIT 20 FOR UPDATE SKIP LOCKED);
    DELETE FROM holdfast.lock_done WHERE (name, run_id) IN (SELECT name, run_id
      FROM holdfast.lock_done WHERE ends <= p_now ORDER BY ends LIMIT 20 FOR UPDATE SKIP LOCKED);
    FOR v_name, v_fence IN SELECT name, fence FROM holdfast.lock_name
      WHERE ctid = ANY (ARRAY(SELECT format('(%s,%s)', v_page, i)::tid
                                FROM generate_series(1, 200) AS i))
        AND fence < p_now - 3600000000 LIMIT 20 FOR UPDATE SKIP LOCKED
    LOOP
      IF EXISTS (SELECT FROM holdfast.lock_lease
                   WHERE name = v_name COLLATE "C" AND expires > p_now - 60000000)
         OR EXISTS (SELECT FROM holdfast.lock_waiter
                      WHERE name = v_name COLLATE "C" AND alive_until > p_now - 60000000) THEN
        CONTINUE;
      END IF;
      UPDATE holdfast.lock_floor SET fence = v_fence WHERE fence < v_fence;
      DELETE FROM holdfast.lock_lease WHERE name = v_name COLLATE "C";
      DELETE FROM holdfast.lock_waiter WHERE name = v_name COLLATE "C";
      DELETE FROM holdfast.lock_name WHERE name = v_name COLLATE "C";
    END LOOP;
  END
  $body$;
)sql";

}  // namespace holdfast::postgres::sql

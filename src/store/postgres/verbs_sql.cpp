#include "store/postgres/schema_sql.hpp"

namespace holdfast::postgres::sql {

// Only these may be called by others; they run as the owner of the tables. Their statements look up
// a few rows by a key: planning them anew for each value would cost more than running them.
const char* const verbs = R"sql(
  CREATE FUNCTION holdfast.lock_acquire(c holdfast.lock_claim, p_queue boolean)
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_last CONSTANT bigint := holdfast.lock_enter(c.name, true);
    v_now CONSTANT bigint := holdfast.lock_now();
    v_ours record;
    v_head holdfast.lock_waiter;
    v_seen record;
    a holdfast.lock_answer;
  BEGIN
    SELECT EXISTS (SELECT FROM holdfast.lock_tombstone
                     WHERE owner = c.owner COLLATE "C" AND ends > v_now) AS tombstone,
           EXISTS (SELECT FROM holdfast.lock_lease WHERE name = c.name COLLATE "C")
           OR EXISTS (SELECT FROM holdfast.lock_waiter WHERE name = c.name COLLATE "C") AS used
      INTO v_seen;
    IF v_seen.tombstone THEN
      a.what := 'busy';
      RETURN NEXT a;
      RETURN;
    END IF;
    IF NOT v_seen.used AND length(c.run_id) = 0 THEN  -- the rules below would come to the same
      SELECT 'granted', v_fence, v_floor, v_ttl INTO a.what, a.fence, a.floor, a.time_left
        FROM holdfast.lock_grant(c, NULL, v_now);
      RETURN NEXT a;
      IF random() < 0.02 THEN
        PERFORM holdfast.lock_sweep(v_now);
      END IF;
      RETURN;
    END IF;
    SELECT fence, floor INTO v_ours FROM holdfast.lock_lease WHERE name = c.name COLLATE "C"
      AND owner = c.owner COLLATE "C" AND expires > v_now AND state = 1;
    IF FOUND THEN
      a.what := 'granted';
      a.fence := v_ours.fence;
      a.floor := v_ours.floor;
      a.time_left := holdfast.lock_refresh(c.name, v_ours.fence, c.ttl, v_now);
      RETURN NEXT a;
      RETURN;
    END IF;
    IF holdfast.lock_is_done(c.name, c.run_id, v_now) THEN
      DELETE FROM holdfast.lock_waiter
        WHERE name = c.name COLLATE "C" AND owner = c.owner COLLATE "C";
      PERFORM holdfast.lock_serve(c.name, NULL, v_now);
      a.what := 'done';
      RETURN NEXT a;
      RETURN;
    END IF;
    a.note := holdfast.lock_contradiction(c.name, c.permit_limit, v_now);
    IF a.note IS NOT NULL THEN
      a.what := 'contradicts';
      RETURN NEXT a;
      RETURN;
    END IF;
    v_head := holdfast.lock_serve(c.name, c.owner, v_now);
    IF (v_head.name IS NULL OR v_head.owner = c.owner COLLATE "C")
       AND holdfast.lock_fits(c.name, c.owner, c.mode, c.permits, c.permit_limit, v_now) THEN
      SELECT 'granted', v_fence, v_floor, v_ttl INTO a.what, a.fence, a.floor, a.time_left
        FROM holdfast.lock_grant(c, NULL, v_now);
      IF v_head.name IS NOT NULL THEN
        DELETE FROM holdfast.lock_waiter
          WHERE name = c.name COLLATE "C" AND ticket = v_head.ticket;
        PERFORM holdfast.lock_serve(c.name, NULL, v_now);
      END IF;
      RETURN NEXT a;
      IF random() < 0.02 THEN
        PERFORM holdfast.lock_sweep(v_now);
      END IF;
      RETURN;
    END IF;
    SELECT fence INTO a.fence FROM holdfast.lock_name WHERE name = c.name COLLATE "C";
    IF p_queue THEN
      PERFORM holdfast.lock_join(c, v_now);
      RETURN QUERY SELECT * FROM holdfast.lock_in_the_way('queued', c.name, a.fence, v_now);
    ELSE
      IF a.fence = v_last AND v_head.name IS NULL THEN
        PERFORM set_config('synchronous_commit', 'off', true);  -- nothing was changed
      END IF;
      RETURN QUERY SELECT * FROM holdfast.lock_in_the_way('busy', c.name, a.fence, v_now);
    END IF;
  END
  $body$;

  -- Joins the queue at its end, or keeps the place that is there.
  CREATE FUNCTION holdfast.lock_join(c holdfast.lock_claim, p_now bigint) RETURNS void
    LANGUAGE plpgsql AS $body$
  BEGIN
    PERFORM holdfast.lock_durably();
    UPDATE holdfast.lock_waiter SET alive_until = p_now + c.liveness
      WHERE name = c.name COLLATE "C" AND owner = c.owner COLLATE "C" AND alive_until >= p_now;
    IF NOT FOUND THEN
      DELETE FROM holdfast.lock_waiter  -- too late: it joins at the end again
        WHERE name = c.name COLLATE "C" AND owner = c.owner COLLATE "C";
      INSERT INTO holdfast.lock_waiter(name, owner, client, mode, permits, permit_limit,
          alive_until, joined_at, lock_delay, min_hold, max_hold, run_id, value, host, pid, note)
        VALUES (c.name, c.owner, c.client, c.mode, c.permits, c.permit_limit, p_now + c.liveness,
          p_now, c.lock_delay, c.min_hold, c.max_hold, c.run_id, c.value, c.host, c.pid, c.note);
    END IF;
  END
  $body$;

  -- Names are entered in their order, so that no two calls wait for each other. A name may stand
  -- here once. Answers in the order of the claims, or one row that says why not and which.
  CREATE FUNCTION holdfast.lock_acquire_all(p_claims holdfast.lock_claim[])
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_now bigint;
    v_head holdfast.lock_waiter;
    v_waits boolean[];
    v_fences bigint[];
    v_floors bigint[];
    v_ours record;
    c holdfast.lock_claim;
    a holdfast.lock_answer;
  BEGIN
    FOR c IN SELECT * FROM unnest(p_claims) AS x ORDER BY x.name COLLATE "C" LOOP
      PERFORM holdfast.lock_enter(c.name, true);
    END LOOP;
    v_now := holdfast.lock_now();
    FOR i IN 1 .. cardinality(p_claims) LOOP
      v_head := holdfast.lock_serve((p_claims[i]).name, NULL, v_now);
      v_waits[i] := v_head.name IS NOT NULL;
    END LOOP;
    FOR i IN 1 .. cardinality(p_claims) LOOP
      c := p_claims[i];
      a.age := i;
      a.note := holdfast.lock_contradiction(c.name, c.permit_limit, v_now);
      IF a.note IS NOT NULL THEN
        a.what := 'contradicts';
        RETURN NEXT a;
        RETURN;
      END IF;
      SELECT fence, floor INTO v_ours FROM holdfast.lock_lease WHERE name = c.name COLLATE "C"
        AND owner = c.owner COLLATE "C" AND expires > v_now AND state = 1;
      v_fences[i] := v_ours.fence;
      v_floors[i] := v_ours.floor;
      IF EXISTS (SELECT FROM holdfast.lock_tombstone
                   WHERE owner = c.owner COLLATE "C" AND ends > v_now)
         OR (v_fences[i] IS NULL AND (v_waits[i] OR NOT
             holdfast.lock_fits(c.name, c.owner, c.mode, c.permits, c.permit_limit, v_now))) THEN
        RETURN NEXT ROW('which', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, i, NULL, NULL,
                        NULL, NULL, NULL)::holdfast.lock_answer;
        RETURN QUERY SELECT * FROM holdfast.lock_in_the_way('busy', c.name, 0, v_now);
        RETURN;
      END IF;
    END LOOP;
    FOR i IN 1 .. cardinality(p_claims) LOOP
      c := p_claims[i];
      a := NULL;
      a.what := 'granted';
      IF v_fences[i] IS NOT NULL THEN
        a.fence := v_fences[i];
        a.floor := v_floors[i];
        a.time_left := holdfast.lock_refresh(c.name, a.fence, c.ttl, v_now);
      ELSE
        SELECT v_fence, v_floor, v_ttl INTO a.fence, a.floor, a.time_left
          FROM holdfast.lock_grant(c, NULL, v_now);
      END IF;
      RETURN NEXT a;
    END LOOP;
  END
  $body$;

  -- One row a claim; `age` says which, from 1.
  CREATE FUNCTION holdfast.lock_renew(p_names text[], p_owners text[], p_fences bigint[],
                                      p_ttls bigint[])
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    r record;
    v_now bigint;
    v_ours record;
    a holdfast.lock_answer;
  BEGIN
    FOR r IN SELECT * FROM unnest(p_names, p_owners, p_fences, p_ttls) WITH ORDINALITY
        AS x(name, owner, fence, ttl, nr) ORDER BY x.name COLLATE "C", x.nr LOOP
      a := NULL;
      a.age := r.nr;
      a.what := 'taken';
      IF holdfast.lock_enter(r.name, false) IS NOT NULL THEN
        v_now := holdfast.lock_now();
        SELECT fence, state INTO v_ours FROM holdfast.lock_lease WHERE name = r.name COLLATE "C"
          AND owner = r.owner COLLATE "C" AND expires > v_now AND state <> 3;
        IF v_ours.state = 2 THEN
          a.what := 'broken';
        ELSIF v_ours.state = 1 AND r.fence IN (0, v_ours.fence) THEN
          a.what := 'renewed';
          a.time_left := holdfast.lock_refresh(r.name, v_ours.fence, r.ttl, v_now);
        END IF;
        PERFORM holdfast.lock_serve(r.name, NULL, v_now);
      END IF;
      RETURN NEXT a;
    END LOOP;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_amend(p_name text, p_owner text, p_mode integer, p_value bytea)
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_now bigint;
    v_ours record;
    a holdfast.lock_answer;
  BEGIN
    a.what := 'taken';
    IF holdfast.lock_enter(p_name, false) IS NOT NULL THEN
      v_now := holdfast.lock_now();
      SELECT fence, state, mode INTO v_ours FROM holdfast.lock_lease
        WHERE name = p_name COLLATE "C" AND owner = p_owner COLLATE "C" AND expires > v_now
          AND state <> 3;
      IF v_ours.state = 2 THEN
        a.what := 'broken';
      ELSIF v_ours.mode = 1 AND p_mode = 0 THEN
        a.what := 'contradicts';
        a.note := 'a shared lease cannot become an exclusive one';
      ELSIF v_ours.state = 1 THEN
        PERFORM holdfast.lock_durably();
        UPDATE holdfast.lock_lease SET mode = p_mode, value = p_value
          WHERE name = p_name COLLATE "C" AND fence = v_ours.fence;
        a.what := 'amended';
      END IF;
      PERFORM holdfast.lock_serve(p_name, NULL, v_now);
    END IF;
    RETURN NEXT a;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_withdraw(p_name text, p_owner text, p_tombstone bigint,
                                         p_keep_min_hold boolean, p_run bytea, p_remember bigint)
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_known CONSTANT bigint := holdfast.lock_enter(p_name, p_tombstone > 0);
    v_now CONSTANT bigint := holdfast.lock_now();
    v_ours record;
    v_had boolean := false;
    v_marked_by text;
    a holdfast.lock_answer;
  BEGIN
    IF v_known IS NOT NULL THEN
      PERFORM holdfast.lock_durably();
      IF p_tombstone > 0 THEN
        INSERT INTO holdfast.lock_tombstone AS t (owner, ends)
          VALUES (p_owner, v_now + p_tombstone)
          ON CONFLICT (owner) DO UPDATE SET ends = greatest(t.ends, excluded.ends);
      END IF;
      DELETE FROM holdfast.lock_waiter WHERE name = p_name COLLATE "C"
        AND owner = p_owner COLLATE "C" RETURNING alive_until >= v_now INTO v_had;
      v_had := coalesce(v_had, false);
      SELECT fence, min_end INTO v_ours FROM holdfast.lock_lease WHERE name = p_name COLLATE "C"
        AND owner = p_owner COLLATE "C" AND expires > v_now AND state <> 3;
      IF p_remember > 0 AND length(p_run) > 0 THEN
        SELECT owner INTO v_marked_by FROM holdfast.lock_done WHERE name = p_name COLLATE "C"
          AND run_id = p_run AND ends > v_now;
        IF FOUND THEN
          v_had := v_had OR v_marked_by = p_owner COLLATE "C";
        ELSIF v_ours.fence IS NOT NULL THEN
          INSERT INTO holdfast.lock_done AS d (name, run_id, owner, ends)
            VALUES (p_name, p_run, p_owner, v_now + p_remember)
            ON CONFLICT (name, run_id) DO UPDATE SET owner = excluded.owner, ends = excluded.ends;
        END IF;
      END IF;
      IF v_ours.fence IS NOT NULL THEN
        v_had := true;
        IF p_keep_min_hold AND v_ours.min_end > v_now THEN
          UPDATE holdfast.lock_lease SET state = 3, expires = min_end
            WHERE name = p_name COLLATE "C" AND fence = v_ours.fence;
        ELSE
          DELETE FROM holdfast.lock_lease WHERE name = p_name COLLATE "C" AND fence = v_ours.fence;
        END IF;
      END IF;
      PERFORM holdfast.lock_serve(p_name, NULL, v_now);
    ELSIF p_remember > 0 AND length(p_run) > 0 THEN
      v_had := EXISTS (SELECT FROM holdfast.lock_done WHERE name = p_name COLLATE "C"
        AND run_id = p_run AND ends > v_now AND owner = p_owner COLLATE "C");
    END IF;
    a.what := CASE WHEN v_had THEN 'released' ELSE 'not_owner' END;
    RETURN NEXT a;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_break(p_name text, p_now_too boolean)
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_now bigint;
    r record;
  BEGIN
    IF holdfast.lock_enter(p_name, false) IS NULL THEN
      RETURN;
    END IF;
    v_now := holdfast.lock_now();
    PERFORM holdfast.lock_durably();
    RETURN QUERY SELECT * FROM holdfast.lock_holders(p_name, v_now);
    FOR r IN SELECT client, owner FROM holdfast.lock_lease
        WHERE name = p_name COLLATE "C" AND expires > v_now AND state <> 3 LOOP
      PERFORM pg_notify('holdfast_' || r.client, 'broken ' || r.owner);
    END LOOP;
    UPDATE holdfast.lock_lease SET state = 2
      WHERE name = p_name COLLATE "C" AND expires > v_now AND state = 1;
    DELETE FROM holdfast.lock_lease
      WHERE name = p_name COLLATE "C" AND (p_now_too OR state = 3);
    PERFORM holdfast.lock_serve(p_name, NULL, v_now);
  END
  $body$;
)sql";

// Stable: all that one call shows is of one moment.
const char* const views = R"sql(
  CREATE FUNCTION holdfast.lock_inspect(p_name text) RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_now CONSTANT bigint := extract(epoch FROM clock_timestamp()) * 1000000;
    a holdfast.lock_answer;
  BEGIN
    a.what := 'name';
    a.name := p_name;
    SELECT fence INTO a.fence FROM holdfast.lock_name WHERE name = p_name COLLATE "C";
    RETURN NEXT a;
    RETURN QUERY SELECT * FROM holdfast.lock_holders(p_name, v_now);
    RETURN QUERY SELECT 'waiter', name, owner, 0, mode::int4, permits, permit_limit, 0::int8,
        0::int8, v_now - joined_at, alive_until - v_now, ''::bytea, host, pid, note
      FROM holdfast.lock_waiter WHERE name = p_name COLLATE "C" AND alive_until >= v_now
      ORDER BY ticket;
  END
  $body$;

  CREATE FUNCTION holdfast.lock_list(p_prefix text, p_after text)
    RETURNS SETOF holdfast.lock_answer
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan AS $body$
  DECLARE
    v_now CONSTANT bigint := extract(epoch FROM clock_timestamp()) * 1000000;
    v_looked_at integer := 0;
    v_shown integer := 0;
    v_name text;
    a holdfast.lock_answer;
  BEGIN
    FOR v_name IN SELECT n.name FROM holdfast.lock_name AS n
        WHERE n.name >= p_prefix COLLATE "C" AND n.name > p_after COLLATE "C"
        ORDER BY n.name LIMIT 1000 LOOP
      EXIT WHEN left(v_name, length(p_prefix)) <> p_prefix COLLATE "C";
      v_looked_at := v_looked_at + 1;
      IF EXISTS (SELECT FROM holdfast.lock_lease AS l
                   WHERE l.name = v_name COLLATE "C" AND l.expires > v_now)
         OR EXISTS (SELECT FROM holdfast.lock_waiter AS w
                      WHERE w.name = v_name COLLATE "C" AND w.alive_until >= v_now) THEN
        RETURN QUERY SELECT * FROM holdfast.lock_inspect(v_name);
        v_shown := v_shown + 1;
      END IF;
      IF v_shown = 200 OR v_looked_at = 1000 THEN
        a.what := 'next';
        a.name := v_name;
        RETURN NEXT a;
        RETURN;
      END IF;
    END LOOP;
  END
  $body$;
)sql";

}  // namespace holdfast::postgres::sql

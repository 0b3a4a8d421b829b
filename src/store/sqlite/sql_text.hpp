// The statements of NameTable.
#pragma once

namespace holdfast::sqlite::sql {

inline constexpr const char* find =
    "SELECT id, fence, floor, state, mode, permits, permit_limit, clock, expires, owner, "
    "granted_at, lock_delay, min_end, max_end, host, pid, note, value FROM lease WHERE name = ?1";
inline constexpr const char* names_after =
    "SELECT DISTINCT name FROM lease WHERE name >= ?1 ORDER BY name LIMIT ?2";
inline constexpr const char* insert =
    "INSERT INTO lease(name, fence, floor, state, mode, permits, permit_limit, clock, expires, "
    "owner, granted_at, lock_delay, min_end, max_end, host, pid, note, value) "
    "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
inline constexpr const char* update =
    "UPDATE lease SET fence = ?2, floor = ?3, state = ?4, mode = ?5, permits = ?6, "
    "permit_limit = ?7, clock = ?8, expires = ?9, owner = ?10, granted_at = ?11, lock_delay = ?12, "
    "min_end = ?13, max_end = ?14, host = ?15, pid = ?16, note = ?17, value = ?18 WHERE id = ?1";
inline constexpr const char* set_use = "UPDATE lease SET mode = ?2, value = ?3 WHERE id = ?1";
inline constexpr const char* set_expiry = "UPDATE lease SET state = ?2, expires = ?3 WHERE id = ?1";
inline constexpr const char* floor = "SELECT fence_floor FROM store";
inline constexpr const char* raise_floor = "UPDATE store SET fence_floor = max(fence_floor, ?1)";

inline constexpr const char* queue =
    "SELECT ticket, owner, clock, alive_until, joined_at, mode, permits, permit_limit, ttl, "
    "lock_delay, min_hold, max_hold, run_id, value, host, pid, note "
    "FROM waiter INDEXED BY waiter_by_name WHERE name = ?1 ORDER BY ticket";
inline constexpr const char* find_waiter =
    "SELECT ticket, clock, alive_until FROM waiter WHERE name = ?1 AND owner = ?2";
inline constexpr const char* join =
    "INSERT INTO waiter(name, owner, clock, alive_until, joined_at, mode, permits, permit_limit, "
    "ttl, lock_delay, min_hold, max_hold, run_id, value, host, pid, note) "
    "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
inline constexpr const char* beat = "UPDATE waiter SET alive_until = ?2 WHERE ticket = ?1";
inline constexpr const char* leave = "DELETE FROM waiter WHERE ticket = ?1";

inline constexpr const char* entombed =
    "SELECT 1 FROM tombstone WHERE owner = ?1 AND clock = ?2 AND until > ?3";
inline constexpr const char* entomb =
    "INSERT INTO tombstone(owner, clock, until) VALUES(?1, ?2, ?3) "
    "ON CONFLICT(owner) DO UPDATE SET until = max(until, excluded.until)";
inline constexpr const char* forget_tombs =
    "DELETE FROM tombstone WHERE owner IN "
    "(SELECT owner FROM tombstone WHERE until <= ?1 ORDER BY until LIMIT ?2)";

inline constexpr const char* find_done =
    "SELECT owner, clock, until, until_unix, remember FROM done WHERE name = ?1 AND run_id = ?2";
inline constexpr const char* mark_done =
    "INSERT INTO done(name, run_id, owner, clock, until, until_unix, remember) "
    "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(name, run_id) DO UPDATE SET "
    "owner = excluded.owner, clock = excluded.clock, until = excluded.until, "
    "until_unix = excluded.until_unix, remember = excluded.remember";
inline constexpr const char* done_span = "SELECT coalesce(max(id), 0) FROM done";
inline constexpr const char* some_done =
    "SELECT owner, clock, until, until_unix, remember, id FROM done WHERE id > ?1 "
    "ORDER BY id LIMIT ?2";
inline constexpr const char* forget_done = "DELETE FROM done WHERE id = ?1";

inline constexpr const char* log_wake =
    "INSERT INTO wake(kind, owner, fence, floor) VALUES(?1, ?2, ?3, ?4)";
inline constexpr const char* trim_wakes = "DELETE FROM wake WHERE seq <= ?1";
inline constexpr const char* last_wake = "SELECT coalesce(max(seq), 0) FROM wake";
inline constexpr const char* wakes_after =
    "SELECT seq, kind, owner, fence, floor FROM wake WHERE seq > ?1 ORDER BY seq";

inline constexpr const char* lease_span = "SELECT coalesce(max(id), 0) FROM lease";
inline constexpr const char* idle_leases =
    "SELECT id, fence FROM (SELECT * FROM lease WHERE id > ?1 ORDER BY id LIMIT ?2) AS some "
    "WHERE (clock <> ?3 OR expires < ?4) "
    "AND NOT EXISTS(SELECT 1 FROM waiter WHERE waiter.name = some.name) "
    // The last fence of a name goes last.
    "AND (NOT EXISTS(SELECT 1 FROM lease AS other WHERE other.name = some.name "
    "AND other.id <> some.id) OR EXISTS(SELECT 1 FROM lease AS later WHERE "
    "later.name = some.name AND later.fence > some.fence))";
inline constexpr const char* drop_lease = "DELETE FROM lease WHERE id = ?1";
inline constexpr const char* waiter_span = "SELECT coalesce(max(ticket), 0) FROM waiter";
inline constexpr const char* drop_dead_waiters =
    "DELETE FROM waiter WHERE ticket IN "
    "(SELECT ticket FROM waiter WHERE ticket > ?1 ORDER BY ticket LIMIT ?2) "
    "AND (clock <> ?3 OR alive_until < ?4)";

}  // namespace holdfast::sqlite::sql

// The tables of a lock file, one method a statement. No rules here: those are in verbs.cpp.
// Every method runs inside a transaction that the caller has opened, unless it says otherwise.
#pragma once

#include "store/sqlite/database.hpp"
#include "store/sqlite/name_state.hpp"
#include "store/sqlite/rows.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/sql_text.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::sqlite {

struct WakeRow {
  enum class Kind : std::uint8_t { handed_off = 1, broken = 2, maybe_free = 3 };
  std::int64_t seq = 0;
  Kind kind = Kind::handed_off;
  OwnerId owner{};
  Fence fence = Fence::none;
  Fence floor = Fence::none;
};

class NameTable {
 public:
  NameTable(Database& database, const Boot& boot) : database_(database), boot_(boot) {}

  // All rows of a name; those of another boot count as idle.
  NameState load(const std::string& name, Instant now);
  // Writes the whole row; `row.id` zero makes one, and sets it.
  void put(const std::string& name, LeaseRow& row);
  void set_expiry(const LeaseRow& row);  // state and expires only
  void set_use(const LeaseRow& row);     // mode and value only
  void drop_lease(std::int64_t id);
  Fence fence_floor();

  // The first waiter of a name that is alive; the dead before it are removed.
  std::optional<WaiterRow> living_head(const std::string& name, Instant now);
  // Where an owner waits, dead or alive.
  struct PlaceRow {
    std::int64_t ticket = 0;
    bool alive = false;
  };
  std::optional<PlaceRow> find_place(const std::string& name, const OwnerId& owner, Instant now);
  void join(const Claim& claim, Instant now);
  void beat(std::int64_t ticket, Instant alive_until);
  void leave(std::int64_t ticket);

  bool is_entombed(const OwnerId& owner, Instant now);
  void entomb(const OwnerId& owner, Instant until, Instant now);

  // Of a run that is remembered at `now`.
  std::optional<DoneRow> find_done(const std::string& name, const std::string& run_id, Instant now);
  void mark_done(const Claim& claim, Duration remember, Instant now, std::int64_t unix_us);

  void log_wake(const WakeRow& row);
  std::int64_t last_wake();  // zero: none yet. Needs no transaction
  // What was logged after `seq`; nullopt if some of it is no longer there. Needs no transaction.
  std::optional<std::vector<WakeRow>> wakes_after(std::int64_t seq);

  // Removes a few rows that nobody needs any more, somewhere after the row that `chance` picks.
  // A lease row goes once it was idle for an hour, and leaves its fence in the floor.
  void sweep(std::uint64_t chance, Instant now);
  void sweep_done(std::uint64_t chance, Instant now);  // a part of it

  // For people: `from`, if there is such a name, and those after it, in order, at most `limit`.
  std::vector<std::string> names_after(const std::string& from, std::int64_t limit);
  std::vector<WaiterRow> living_waiters(const std::string& name, Instant now);

  Database& database() noexcept { return database_; }

 private:
  LeaseRow read_lease(const Statement::Rows& rows, Instant now) const;  // idle if it has ended
  WaiterRow read_waiter(const std::string& name, const Statement::Rows& rows) const;
  void sweep_leases(std::uint64_t chance, Instant now);
  void sweep_waiters(std::uint64_t chance, Instant now);

  DoneRow read_done(const Statement::Rows& rows) const;

  Database& database_;
  Boot boot_;
  Statement find_{database_, sql::find};
  Statement insert_{database_, sql::insert};
  Statement update_{database_, sql::update};
  Statement set_expiry_{database_, sql::set_expiry};
  Statement set_use_{database_, sql::set_use};
  Statement floor_{database_, sql::floor};
  Statement raise_floor_{database_, sql::raise_floor};
  Statement queue_{database_, sql::queue};
  Statement find_waiter_{database_, sql::find_waiter};
  Statement join_{database_, sql::join};
  Statement beat_{database_, sql::beat};
  Statement leave_{database_, sql::leave};
  Statement entombed_{database_, sql::entombed};
  Statement entomb_{database_, sql::entomb};
  Statement forget_tombs_{database_, sql::forget_tombs};
  Statement find_done_{database_, sql::find_done};
  Statement mark_done_{database_, sql::mark_done};
  Statement done_span_{database_, sql::done_span};
  Statement some_done_{database_, sql::some_done};
  Statement forget_done_{database_, sql::forget_done};
  Statement log_wake_{database_, sql::log_wake};
  Statement trim_wakes_{database_, sql::trim_wakes};
  Statement last_wake_{database_, sql::last_wake};
  Statement wakes_after_{database_, sql::wakes_after};
  Statement lease_span_{database_, sql::lease_span};
  Statement idle_leases_{database_, sql::idle_leases};
  Statement drop_lease_{database_, sql::drop_lease};
  Statement waiter_span_{database_, sql::waiter_span};
  Statement drop_dead_waiters_{database_, sql::drop_dead_waiters};
  Statement names_after_{database_, sql::names_after};
};

}  // namespace holdfast::sqlite

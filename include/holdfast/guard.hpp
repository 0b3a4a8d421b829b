// holdfast/guard.hpp: the storage side of fencing. A guard remembers, per resource, the greatest
// fence it has seen and refuses anything lower. The check and the write must be one atomic step in
// the storage, so each storage has its own guard:
//
//   <holdfast/guard/sqlite.hpp>  check inside your transaction
//   <holdfast/guard/redis.hpp>   check and write in one script
//
//   SqliteGuard guard{db};
//   admit_lease(guard, "ledger", lease);  // throws stale_fence, and the lease knows that it is
//   lost
//
// MemoryGuard is for services that own their data in memory, and the model for the others.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/types.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

// Runs `write` and passes its result on. If it throws stale_fence, the lease whose fence it used is
// told, so that everything else that works under it stops too.
//
//   reporting_stale(lease, [&] { check_row_write(db, changed, row, lease.fence()); });
template <class LeaseType, class Write>
decltype(auto) reporting_stale(LeaseType& lease, Write&& write) {
  try {
    return std::forward<Write>(write)();
  } catch (const Error& error) {
    if (error.code() == errc::stale_fence) {
      lease.report_stale();
    }
    throw;
  }
}

// Asks `guard` to admit the fence of `lease` for `resource`, as guard.admit() does, and reports a
// refusal as stale to the lease: it is lost from then on. Any guard that has admit(), and any kind
// of lease that has name(), fence(), floor() and report_stale().
template <class Guard, class LeaseType>
void admit_lease(Guard& guard, std::string_view resource, LeaseType& lease) {
  reporting_stale(lease,
                  [&] { guard.admit(resource, lease.name(), lease.fence(), lease.floor()); });
}
template <class Guard, class LeaseType>
void admit_lease(Guard& guard, std::string_view resource, LeaseType& lease, std::error_code& ec) {
  guard.admit(resource, lease.name(), lease.fence(), lease.floor(), ec);
  if (ec == errc::stale_fence) {
    lease.report_stale();
  }
}

// Whose fence a write carries, for guards that check and write in one call.
struct Stamp {
  std::string name{};  // of the lock
  Fence fence = Fence::none;
  Fence floor = Fence::none;  // none: the fence
};

template <class LeaseType>
Stamp stamp_of(const LeaseType& lease) {
  return {.name = lease.name(), .fence = lease.fence(), .floor = lease.floor()};
}

// What a once guard says of a key.
struct OnceAnswer {
  bool first = false;                   // the key was free and is yours: do the work
  std::optional<std::string> result{};  // a repeat: what the first one kept, if it kept anything
  Fence fence = Fence::none;            // a repeat: the fence of the first one, if it named one
};

// Thread-safe. admit() then write is atomic only under a mutex of yours that covers both.
class MemoryGuard {
 public:
  // Errors: stale_fence if `fence` is below the resource's mark; invalid_options if it is not
  // positive, if `floor` is above it, or if another lock's name guards this resource. Otherwise
  // raises the mark to `floor` (unset: to `fence`).
  void admit(std::string_view resource, std::string_view name, Fence fence,
             Fence floor = Fence::none);
  void admit(std::string_view resource, std::string_view name, Fence fence, Fence floor,
             std::error_code& ec);

 private:
  struct Mark {
    std::string name{};
    Fence greatest = Fence::none;
  };
  std::mutex mutex_{};
  std::map<std::string, Mark, std::less<>> marks_{};
};

// Once guard for work whose effect is in this process: does it remember this request already?
// Thread-safe; the same rule as above about a mutex of yours. Grows until forget() is called.
class MemoryOnce {
 public:
  // The first to ask for `key` gets `first`, everybody else what the first one kept.
  // Errors: invalid_options if `key` is empty or `fence` negative.
  OnceAnswer take(std::string_view key, Fence fence = Fence::none);
  OnceAnswer take(std::string_view key, Fence fence, std::error_code& ec);

  // Keeps the result of a key that was taken. Errors: not_found if it was not taken,
  // already_written if it has a result.
  void keep(std::string_view key, std::string_view result);
  void keep(std::string_view key, std::string_view result, std::error_code& ec);

  // The key is free again: its work failed, or no repeat can come any more.
  void forget(std::string_view key);

 private:
  struct Taken {
    Fence fence = Fence::none;
    std::optional<std::string> result{};
  };
  std::mutex mutex_{};
  std::map<std::string, Taken, std::less<>> keys_{};
};

}  // namespace holdfast

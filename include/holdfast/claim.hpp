// holdfast/claim.hpp: the messages between the engine and a store. Values only; no I/O. Needed by
// those who write a store; users of locks never see them.
//
// A name is 1-255 bytes of valid UTF-8 without control characters; braces only as closed,
// non-empty, un-nested {tag}. The same rule holds on every store; see valid_name().
#pragma once

#include <holdfast/types.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

namespace holdfast {

inline constexpr std::size_t name_size_max = 255;
inline constexpr std::size_t note_size_max = 200;
inline constexpr std::size_t value_size_max = 1024;
inline constexpr std::uint32_t limit_max = 1'000'000;
inline constexpr Duration ttl_min = std::chrono::milliseconds{100};
inline constexpr Duration ttl_max = std::chrono::hours{24 * 3650};

// Empty if `name` may be locked, else one clause that says what is wrong with it.
std::string why_invalid_name(std::string_view name);
inline bool valid_name(std::string_view name) { return why_invalid_name(name).empty(); }

// Who holds or waits, for people. Decides nothing.
struct Who {
  std::string host{};
  std::int64_t pid = 0;
  std::string note{};
  bool operator==(const Who&) const = default;
};

// One attempt at one name: what acquire and renew carry. A zero Duration means "not set".
//
// A name is used in one way at a time: as a lock, by exclusive and shared claims (limit 0), or as a
// semaphore, by claims of `permits` out of one `limit`, whose mode is shared.
struct Claim {
  std::string name{};
  OwnerId owner{};
  Mode mode = Mode::exclusive;
  std::uint32_t permits = 1;  // 1 to limit; counts only where limit is not 0
  std::uint32_t limit = 0;    // 0: not a semaphore
  Duration ttl{};             // the lease asked for; the store keeps the record ttl + lock_delay
  Duration liveness{};        // how long a waiter keeps its place without a beat: min(ttl, 5 s)
  Duration min_hold{};        // the record lasts to at least grant + min_hold
  Duration max_hold{};        // no renewal carries expiry past grant + max_hold (+ lock_delay)
  Duration lock_delay{};      // added to every expiry on the store's side
  std::string run_id{};       // not empty: no grant once this run of `name` is marked done
  std::string value{};        // what the holder says of itself; kept in the record
  Fence fence = Fence::none;  // renew() only: the fence of the lease that is meant, if it is known
  Who who{};
};

// Somebody's hold as others see it; ages and remaining times are on the store's clock.
struct Holder {
  OwnerId owner{};
  Mode mode = Mode::exclusive;
  Fence fence = Fence::none;
  Who who{};
  Duration held_for{};
  Duration ttl_left{};    // zero: ends at any moment
  bool broken = false;    // marked by an operator, waiting for the holder's answer
  bool released = false;  // a tombstone of min_hold: nobody is inside any more
  std::uint32_t permits = 1;
  std::uint32_t limit = 0;  // of the semaphore; 0: it is none
  std::string value{};
};

struct Waiter {
  OwnerId owner{};
  Mode mode = Mode::exclusive;
  Who who{};
  Duration waiting_for{};
  std::uint32_t permits = 1;
  std::uint32_t limit = 0;
};

// ---- acquire -----------------------------------------------------------------------------------

struct Granted {
  Fence fence = Fence::none;
  Fence floor = Fence::none;  // the lowest fence still alive at the grant; exclusive: == fence
  Duration ttl{};             // what the store granted, counted from when it executed the request
};
// In the queue. Ask again (a beat) within liveness/3; look again in `recheck_in`.
struct Queued {
  Duration recheck_in{};           // when something may change by time alone
  std::optional<Holder> holder{};  // one that is in the way, if the store knows it
  Fence last_fence = Fence::none;  // of the name: a hand-off that is news has a greater one
};
// Held, or others wait before us, and we did not ask to queue (or this store has no queue).
struct Busy {
  Duration recheck_in{};
  std::optional<Holder> holder{};
};
// The run that the claim names is marked done: there is nothing to do. We are not in the queue.
struct AlreadyDone {};
// `may_have_had_effect`: the request may have been executed, or may still be.
struct Failed {
  std::error_code code{};
  bool may_have_had_effect = false;
  std::string detail{};  // one line for people; never a secret
};
using AcquireReply = std::variant<Granted, Queued, Busy, Failed, AlreadyDone>;

// ---- acquire_all -------------------------------------------------------------------------------

using AllGranted = std::vector<Granted>;  // in the order of the claims
struct AllBusy {                          // nothing was granted
  std::size_t which = 0;                  // the first claim that could not be had
  Busy busy{};
};
using AcquireAllReply = std::variant<AllGranted, AllBusy, Failed>;

// ---- renew -------------------------------------------------------------------------------------

struct Renewed {
  Duration ttl{};
};
enum class GoneReason : std::uint8_t { taken, broken };
struct Gone {
  GoneReason reason = GoneReason::taken;
};
using RenewReply = std::variant<Renewed, Gone, Failed>;

// ---- amend -------------------------------------------------------------------------------------

struct Amended {};
using AmendReply = std::variant<Amended, Gone, Failed>;

// ---- withdraw ----------------------------------------------------------------------------------

struct WithdrawOptions {
  bool keep_min_hold = false;  // a release after use: the record stays to grant + min_hold
  bool tombstone = false;      // an acquire of this owner may still be on its way: refuse it later
  Duration remember{};         // not zero: the claim's run is done; mark it so for this long
};

// The lease or the place in the queue was ours and is given back; or the run that was to be marked
// done bears this owner's mark already.
struct Released {};
struct NotOwner {};  // nothing of ours was there; nothing was changed (a tombstone may be set)
using WithdrawReply = std::variant<Released, NotOwner, Failed>;

// ---- what a store tells by itself --------------------------------------------------------------

struct HandedOff {  // the releasing step granted the name to this waiter: a provisional lease
  OwnerId owner{};
  Fence fence = Fence::none;
  Fence floor = Fence::none;
};
struct MaybeFree {  // a hint for this waiter: ask again now
  OwnerId owner{};
};
struct MarkedBroken {  // a hint for this holder: an operator broke the name; verify now
  OwnerId owner{};
};
struct Doubt {};  // connection or primary changed: verify every held lease, re-ask every wait
using StoreEvent = std::variant<HandedOff, MaybeFree, MarkedBroken, Doubt>;

// ---- for people --------------------------------------------------------------------------------

struct NameView {
  std::string name{};
  std::vector<Holder> holders{};
  std::vector<Waiter> waiters{};  // in order
  Fence last_fence = Fence::none;
};
struct Page {
  std::vector<NameView> names{};
  std::string next_cursor{};  // empty: this was the last page
};
using InspectReply = std::variant<NameView, Failed>;
using ListReply = std::variant<Page, Failed>;

enum class BreakMode : std::uint8_t { ask_holder, now };
struct BreakDone {
  std::vector<Holder> holders{};  // whom it hit; empty: nobody held it
};
using BreakReply = std::variant<BreakDone, Failed>;

struct Finding {
  enum class Level : std::uint8_t { good, note, warning, failure };
  Level level = Level::good;
  std::string what{};    // one line: what was seen
  std::string advice{};  // one line: what to do; empty if nothing
};

}  // namespace holdfast

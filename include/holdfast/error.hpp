// holdfast/error.hpp: what can go wrong, and what a caller should do about it.
//
//   std::error_code ec;
//   auto lease = mutex.acquire({.timeout = 5s}, ec);
//   if (ec == holdfast::failure::transient) { /* trying again may help */ }
//
// Every operation comes in the two forms of std::filesystem and Asio: one throws holdfast::Error
// (a std::system_error), one takes a trailing std::error_code&. "Somebody else holds it" is an
// answer, not an exception: try_* forms report it with std::nullopt or false.
#pragma once

#include <string>
#include <system_error>

namespace holdfast {

enum class errc {
  busy = 1,           // somebody else holds it; one attempt was asked for
  timed_out,          // the wait ended; the store's last word was "busy"; nothing is held
  cancelled,          // the caller asked to stop; nothing is held
  would_deadlock,     // the wait could never end: the caller itself is in the way
  already_done,       // this run of the job was done before; nothing is held
  expired,            // lost: no proof of ownership in time, so trust ended
  taken,              // lost: the store says another owner has it, or there is no record
  broken,             // lost: an operator took it away
  max_hold,           // lost: the longest allowed hold was reached
  stale_fence,        // a guard has already seen a greater fence
  already_written,    // a row guard has already seen this very fence
  not_found,          // there is no such row or name
  not_owner,          // the record was gone or another owner's; nothing was changed
  store_unavailable,  // the store could not be reached, or refused for now; no effect
  outcome_unknown,    // the request was sent and no answer came; it may have had effect
  access_denied,      // wrong password, missing right, or a TLS check that failed
  unsupported,        // this store cannot do this
  invalid_options,    // impossible times, or options that contradict what the record says
  invalid_name,       // see the rule for names in holdfast/claim.hpp
  invalid_url,        // the store URL cannot be understood
  format_too_new,     // the store was written by a newer holdfast
  storage_unsafe,     // the file cannot be trusted: network file system, replaced, hard-linked
  closed,             // the client is closed, or this is a forked child
  version_conflict,   // a version guard: the row was written since it was read
};

// Conditions to test against: if (ec == failure::transient) ...
enum class failure {
  not_acquired = 1,  // busy, timed_out, cancelled, would_deadlock, already_done
  ownership_lost,    // expired, taken, broken, max_hold, stale_fence, not_owner
  transient,         // store_unavailable, outcome_unknown: trying again may help
  permanent,         // everything else: trying again will not help
};

const std::error_category& error_category() noexcept;
const std::error_category& failure_category() noexcept;
std::error_code make_error_code(errc code) noexcept;
std::error_condition make_error_condition(failure condition) noexcept;

// The stable word for a code, as in --json output: "timed_out".
const char* error_word(errc code) noexcept;

// What the throwing forms throw. `detail()` is one line from the store, e.g. the missing right;
// it never holds a password.
class Error : public std::system_error {
 public:
  Error(std::error_code code, std::string detail);
  const std::string& detail() const noexcept { return detail_; }
  const char* what() const noexcept override { return text_.c_str(); }  // "message: detail"

 private:
  std::string detail_;
  std::string text_;
};

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::errc> : std::true_type {};
template <>
struct std::is_error_condition_enum<holdfast::failure> : std::true_type {};

// Giving back what a failed attempt or an unanswered release may have left in the store: asks
// until the store answers, or until time has ended it anyway. Pure.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>

#include "core/backoff.hpp"

#include <optional>

namespace holdfast {

enum class CleanupAction : std::uint8_t {
  wait,      // nothing, until next_timer()
  withdraw,  // send the withdraw again; its reply goes to on_reply()
  end,       // done: answered, hopeless, or too late to matter
};

class CleanupMachine {
 public:
  // `give_up_at`: when the store has let go by itself.
  CleanupMachine(Instant give_up_at, std::uint64_t spread)
      : give_up_at_(give_up_at), backoff_(spread) {}

  // The first try is at `when`, or now if that has passed.
  CleanupAction start(Instant when, Instant now) {
    try_at_ = when;
    return on_timer(now);
  }
  // The client closes: a try that is put off goes out now.
  CleanupAction hurry(Instant now) {
    if (try_at_) {
      try_at_ = now;
    }
    return on_timer(now);
  }

  CleanupAction on_reply(const WithdrawReply& reply, Instant now) {
    const auto* failed = std::get_if<Failed>(&reply);
    if (failed == nullptr || !(failed->code == failure::transient)) {
      return CleanupAction::end;
    }
    if (now >= give_up_at_) {
      return CleanupAction::end;
    }
    try_at_ = now + backoff_.next();
    return CleanupAction::wait;
  }

  CleanupAction on_timer(Instant now) {
    if (!try_at_ || now < *try_at_) {
      return CleanupAction::wait;
    }
    try_at_.reset();
    return CleanupAction::withdraw;
  }

  std::optional<Instant> next_timer() const noexcept { return try_at_; }

 private:
  Instant give_up_at_;
  Backoff backoff_;
  std::optional<Instant> try_at_{};
};

}  // namespace holdfast

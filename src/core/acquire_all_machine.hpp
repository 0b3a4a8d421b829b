// Several names at once, all or none, from the first request to the grants or a reason why not.
// Pure: it is told the time and what arrived, and says what to do next; src/engine does it.
//
// The way of std::lock: wait for one name that was busy, and once it is ours try all the others
// without waiting; if one of them is busy, give everything back and wait for that one. So nobody
// waits while holding something (no dead-lock), nothing half-held is ever renewed or outlives a
// failed try, and it does not matter in which order anybody names the names. Two that collide again
// and again rest for times that differ, so that one of them gets through.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>
#include <holdfast/function.hpp>

#include "core/acquire_machine.hpp"
#include "core/backoff.hpp"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast {

enum class AcquireAllAction : std::uint8_t {
  wait,     // nothing, until next_timer() or the next event
  ask_all,  // send acquire_all(claims()); its reply belongs to ask_id()
  ask_one,  // send acquire(claims()[index()], Queueing::no); its reply belongs to ask_id()
  queue,    // run queued_wait() to its end; its result goes to on_queue_end()
  finish,   // result() and grants() are final
};

// |          | granted          | busy              | failed          | timer, deadline | cancel |
// |----------|------------------|-------------------|-----------------|-----------------|--------|
// | asking   | finish, ask_one  | queue, rest       | rest            | finish          | finish |
// | queueing | ask_all, ask_one | -                 | finish          | -               | (wait) |
// | resting  | -                | -                 | -               | queue, ask_…    | finish |
//
// After every call the driver sends withdraws for take_give_backs(), until they are answered. A
// cancel while queueing is the driver's to pass on to the wait that it runs.
class AcquireAllMachine {
 public:
  struct GiveBack {
    Claim claim{};
    WithdrawOptions options{};
  };
  // `claims` have different names, in order, and one TTL. `fresh` draws an owner that nobody had
  // before: one that a withdraw was sent for never asks again. `at_once`: the store understands
  // acquire_all(); else the others are asked for one after the other.
  AcquireAllMachine(std::vector<Claim> claims, std::optional<Duration> safety_margin,
                    std::optional<Instant> deadline, bool at_once, UniqueFunction<OwnerId()> fresh);

  AcquireAllAction start(Instant now);
  AcquireAllAction on_reply(std::uint64_t ask, const AcquireAllReply& reply, Instant now);
  AcquireAllAction on_reply(std::uint64_t ask, const AcquireReply& reply, Instant now);
  AcquireAllAction on_queue_end(const AcquireResult& result, Instant now);
  AcquireAllAction on_timer(Instant now);
  AcquireAllAction cancel(Instant now, errc why = errc::cancelled);

  std::optional<Instant> next_timer() const;
  std::vector<GiveBack> take_give_backs() { return std::exchange(give_backs_, {}); }

  const std::vector<Claim>& claims() const noexcept { return claims_; }
  std::size_t index() const noexcept { return index_; }
  std::uint64_t ask_id() const noexcept { return ask_id_; }
  AcquireMachine queued_wait() const { return {claims_[index_], safety_margin_, deadline_}; }
  bool queueing() const noexcept { return phase_ == Phase::queueing; }
  bool finished() const noexcept { return phase_ == Phase::finished; }
  // Its code, detail and holder: how it ended. No code: granted.
  const AcquireResult& result() const noexcept { return result_; }
  // One for each claim. All are set after a finish without a code, none after one with a code.
  const std::vector<std::optional<AcquireResult>>& grants() const noexcept { return grants_; }

 private:
  enum class Phase : std::uint8_t { asking, queueing, resting, finished };
  enum class Word : std::uint8_t { none, busy, failed };

  AcquireAllAction try_all(Instant now);
  AcquireAllAction ask(AcquireAllAction how, Instant now);
  AcquireAllAction ask_for_missing(Instant now);
  AcquireAllAction conclude(Instant now);
  AcquireAllAction busy(std::size_t which, const Busy& reply, Instant now);
  AcquireAllAction failed(const Failed& reply, Instant now);
  AcquireAllAction queue(std::size_t which);
  AcquireAllAction rest(Instant until, std::optional<std::size_t> then_queue);
  AcquireAllAction at_deadline(Instant now);
  AcquireAllAction finish(std::error_code code);
  bool is_answer(std::uint64_t ask);
  AcquireResult granted(const Granted& reply, bool tombstone) const;
  bool holds_any() const;
  void give_back_held();
  void give_back_unanswered();
  void give_back(std::size_t which, bool tombstone);

  std::vector<Claim> claims_;
  std::optional<Duration> safety_margin_;
  std::optional<Instant> deadline_;
  bool at_once_;
  UniqueFunction<OwnerId()> fresh_;
  Backoff failures_;
  CollisionBackoff collisions_;
  std::vector<std::optional<AcquireResult>> grants_;  // set: ours, as far as we know
  std::vector<GiveBack> give_backs_{};

  Phase phase_ = Phase::resting;
  bool single_ = false;    // one attempt
  bool collided_ = false;  // the last try failed with one name in hand
  bool in_flight_ = false;
  AcquireAllAction asked_how_ = AcquireAllAction::ask_all;
  std::size_t index_ = 0;
  std::uint64_t ask_id_ = 0;
  Instant sent_{};
  Instant rest_until_{};
  std::optional<std::size_t> then_queue_{};
  std::optional<errc> cancelled_{};
  Word word_ = Word::none;
  AcquireResult result_{};
};

}  // namespace holdfast

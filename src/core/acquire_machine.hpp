// One attempt at one name, from the first request to a grant or a reason why not. Pure: it is told
// the time and what arrived, and says what to do next; src/engine does it.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include "core/backoff.hpp"

#include <optional>
#include <string>

namespace holdfast {

enum class AcquireAction : std::uint8_t {
  wait,           // nothing, until next_timer() or the next event
  ask,            // send acquire(claim(), Queueing::no); its reply belongs to ask_id()
  ask_and_queue,  // send acquire(claim(), Queueing::yes); its reply belongs to ask_id()
  finish,         // result() is final; send what clean_up() says
};

struct AcquireResult {
  std::error_code code{};  // empty: granted
  std::string detail{};    // one line for people
  Fence fence = Fence::none;
  Fence floor = Fence::none;
  Duration ttl{};  // as granted
  Instant sent{};  // the sending that trust counts from
  Instant trusted_until{};
  bool provisional = false;        // handed off: renew at once to make it a full lease
  bool tombstone = false;          // an ask of this owner may still be on its way
  std::optional<Holder> holder{};  // not granted: who was in the way, if the store told
};

// |          | granted   | queued, busy | failed         | handed off | deadline | cancel |
// |----------|-----------|--------------|----------------|------------|----------|--------|
// | asking   | finish    | wait         | wait (backoff) | finish     | finish   | finish |
// | waiting  | -         | -            | -              | finish     | finish   | finish |
// | finished | (ignored) | (ignored)    | (ignored)      | (ignored)  |          |        |
//
// A wait of zero makes one ask and finishes with its reply. At most one ask is in flight; the
// store answers each within its op_timeout, but the deadline does not wait for it.
class AcquireMachine {
 public:
  // `deadline`: unset means for ever; at or before `now` means one attempt.
  AcquireMachine(Claim claim, std::optional<Duration> safety_margin,
                 std::optional<Instant> deadline);

  // `first` is ask or ask_and_queue.
  AcquireAction start(AcquireAction first, Instant now);
  AcquireAction on_reply(std::uint64_t ask, const AcquireReply& reply, Instant now);
  AcquireAction on_handed_off(const HandedOff& event, Instant now);
  AcquireAction on_hint(Instant now);  // MaybeFree or Doubt: look again now
  // Doubt, at once: who answered our last beat need not be who hands on from here. A replica that
  // was promoted may know of an older one only, and its hand-off would end sooner than we trust.
  void forget_beat() noexcept { beat_.reset(); }
  AcquireAction on_timer(Instant now);
  AcquireAction cancel(Instant now, errc why = errc::cancelled);
  // The same in place of `action`, the last one, which was not carried out.
  AcquireAction cancel_instead(AcquireAction action, Instant now, errc why);

  // Changes with every call above and with no other.
  std::optional<Instant> next_timer() const;

  const Claim& claim() const noexcept { return claim_; }
  std::uint64_t ask_id() const noexcept { return ask_id_; }
  bool finished() const noexcept { return finished_; }
  const AcquireResult& result() const noexcept { return result_; }
  // After a finish without a grant: what must be withdrawn, if anything may be left.
  std::optional<WithdrawOptions> clean_up() const;
  const std::optional<Holder>& holder() const noexcept { return result_.holder; }
  // The store's last word was that we have to wait.
  bool told_busy() const noexcept { return word_ == Word::busy; }

 private:
  enum class Word : std::uint8_t { none, busy, failed };
  struct Beat {
    Instant sent{};
    Fence last = Fence::none;  // of the name, when the store answered it
  };

  AcquireAction ask_now(AcquireAction how, Instant now);
  AcquireAction ask_again(Instant now) { return ask_now(AcquireAction::ask_and_queue, now); }
  AcquireAction finish(errc code);
  AcquireAction granted(const Granted& reply, Instant now);
  AcquireAction queued(const Queued& reply, Instant now);
  AcquireAction busy(const Busy& reply, Instant now);
  void hear_busy(const std::optional<Holder>& holder);
  AcquireAction failed(const Failed& reply, Instant now);
  AcquireAction grant(Fence fence, Fence floor, Duration ttl, Instant sent, Instant until);
  AcquireAction at_deadline(Instant now);
  AcquireAction look_again_at(Instant when);
  Duration margin(Duration ttl) const;

  Claim claim_;
  std::optional<Duration> safety_margin_;
  std::optional<Instant> deadline_;
  Backoff backoff_;
  bool single_ = false;  // one attempt
  bool finished_ = false;
  AcquireAction ask_how_ = AcquireAction::ask;
  bool in_flight_ = false;
  bool again_ = false;       // a hint came while an ask was in flight
  bool unanswered_ = false;  // sticky: some ask may still be executed
  bool in_queue_ = false;    // the store has something of ours: it said so
  Word word_ = Word::none;   // the store's last
  std::uint64_t ask_id_ = 0;
  Instant sent_{};
  std::optional<Beat> beat_{};  // the last that was answered; unset: it told no fence
  std::optional<Instant> look_at_{};
  AcquireResult result_{};
};

}  // namespace holdfast

#include "core/acquire_all_machine.hpp"

#include "base/mutation.hpp"
#include "core/trust.hpp"

#include <algorithm>

namespace holdfast {

namespace {

using std::chrono::milliseconds;

// A store that has been silent for this long at the deadline did not say "busy".
constexpr Duration silence = milliseconds{200};

std::uint64_t spread_of(const std::vector<Claim>& claims) {
  return std::hash<OwnerId>{}(claims.front().owner);
}

}  // namespace

AcquireAllMachine::AcquireAllMachine(std::vector<Claim> claims,
                                     std::optional<Duration> safety_margin,
                                     std::optional<Instant> deadline, bool at_once,
                                     UniqueFunction<OwnerId()> fresh)
    : claims_(std::move(claims)),
      safety_margin_(safety_margin),
      deadline_(deadline),
      at_once_(at_once),
      fresh_(std::move(fresh)),
      failures_(spread_of(claims_)),
      collisions_(spread_of(claims_)),
      grants_(claims_.size()) {}

AcquireAllAction AcquireAllMachine::start(Instant now) {
  single_ = deadline_ && *deadline_ <= now;
  return try_all(now);
}

// ---- asking ------------------------------------------------------------------------------------

AcquireAllAction AcquireAllMachine::try_all(Instant now) {
  return at_once_ ? ask(AcquireAllAction::ask_all, now) : ask_for_missing(now);
}

AcquireAllAction AcquireAllMachine::ask(AcquireAllAction how, Instant now) {
  phase_ = Phase::asking;
  in_flight_ = true;
  asked_how_ = how;
  sent_ = now;
  ++ask_id_;
  return how;
}

AcquireAllAction AcquireAllMachine::ask_for_missing(Instant now) {
  const auto missing = std::ranges::find(grants_, false, &std::optional<AcquireResult>::has_value);
  if (missing == grants_.end()) {
    return conclude(now);
  }
  index_ = static_cast<std::size_t>(missing - grants_.begin());
  return ask(AcquireAllAction::ask_one, now);
}

bool AcquireAllMachine::is_answer(std::uint64_t ask) {
  return phase_ == Phase::asking && ask == ask_id_ && std::exchange(in_flight_, false);
}

AcquireAllAction AcquireAllMachine::on_reply(std::uint64_t ask, const AcquireAllReply& reply,
                                             Instant now) {
  if (!is_answer(ask)) {
    return finished() ? AcquireAllAction::finish : AcquireAllAction::wait;
  }
  if (const auto* all = std::get_if<AllGranted>(&reply)) {
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      grants_[i] = granted(all->at(i), grants_[i] && grants_[i]->tombstone);
    }
    return conclude(now);
  }
  if (const auto* no = std::get_if<AllBusy>(&reply)) {
    return busy(no->which, no->busy, now);
  }
  return failed(std::get<Failed>(reply), now);
}

AcquireAllAction AcquireAllMachine::on_reply(std::uint64_t ask, const AcquireReply& reply,
                                             Instant now) {
  if (!is_answer(ask)) {
    return finished() ? AcquireAllAction::finish : AcquireAllAction::wait;
  }
  if (const auto* yes = std::get_if<Granted>(&reply)) {
    grants_[index_] = granted(*yes, false);
    return ask_for_missing(now);
  }
  if (const auto* no = std::get_if<Failed>(&reply)) {
    return failed(*no, now);
  }
  const auto* no = std::get_if<Busy>(&reply);
  return busy(index_, no != nullptr ? *no : Busy{}, now);
}

AcquireResult AcquireAllMachine::granted(const Granted& reply, bool tombstone) const {
  AcquireResult grant;
  grant.fence = reply.fence;
  grant.floor = reply.floor;
  grant.ttl = reply.ttl;
  grant.sent = sent_;
  grant.trusted_until =
      trusted_until(sent_, reply.ttl, safety_margin_.value_or(default_margin(reply.ttl)));
  grant.tombstone = tombstone;
  return grant;
}

AcquireAllAction AcquireAllMachine::conclude(Instant now) {
  const bool in_time =
      std::ranges::all_of(grants_, [now](const auto& grant) { return now < grant->trusted_until; });
  if (!in_time) {
    // It took so long that one of them proves nothing any more.
    return failed({errc::outcome_unknown, false, "the store's answers came too late"}, now);
  }
  result_ = {};
  phase_ = Phase::finished;
  return AcquireAllAction::finish;
}

AcquireAllAction AcquireAllMachine::busy(std::size_t which, const Busy& reply, Instant now) {
  word_ = Word::busy;
  failures_.reset();
  result_ = {};
  result_.holder = reply.holder;
  const bool collided = holds_any();
  if (!mutated(Mutation::group_keeps_what_it_has)) {
    give_back_held();
  }
  if (single_) {
    return finish(errc::busy);
  }
  if (deadline_ && now >= *deadline_) {
    return at_deadline(now);  // this process stood still: a wait would make one more attempt
  }
  const bool again = collided && collided_;
  collided_ = collided;
  if (!collided) {
    collisions_.reset();
  }
  return again ? rest(now + collisions_.next(), which) : queue(which);
}

AcquireAllAction AcquireAllMachine::failed(const Failed& reply, Instant now) {
  word_ = Word::failed;
  result_ = {};
  result_.code = reply.code;
  result_.detail = reply.detail;
  if (reply.may_have_had_effect) {
    give_back_unanswered();
  }
  give_back_held();
  if (single_ || !(reply.code == failure::transient)) {
    return finish(reply.code);
  }
  return rest(now + failures_.next(), std::nullopt);
}

// ---- waiting -----------------------------------------------------------------------------------

AcquireAllAction AcquireAllMachine::queue(std::size_t which) {
  phase_ = Phase::queueing;
  index_ = which;
  return AcquireAllAction::queue;
}

AcquireAllAction AcquireAllMachine::on_queue_end(const AcquireResult& result, Instant now) {
  if (!queueing()) {
    return finished() ? AcquireAllAction::finish : AcquireAllAction::wait;
  }
  phase_ = Phase::resting;
  if (result.code) {
    result_ = {};
    result_.detail = result.detail;
    result_.holder = result.holder;
    return finish(result.code);
  }
  grants_[index_] = result;
  return cancelled_ ? finish(*cancelled_) : try_all(now);
}

AcquireAllAction AcquireAllMachine::rest(Instant until, std::optional<std::size_t> then_queue) {
  phase_ = Phase::resting;
  rest_until_ = until;
  then_queue_ = then_queue;
  return AcquireAllAction::wait;
}

std::optional<Instant> AcquireAllMachine::next_timer() const {
  std::optional<Instant> next;
  if (phase_ == Phase::resting) {
    next = rest_until_;
  }
  if (deadline_ && !single_ && (phase_ == Phase::resting || phase_ == Phase::asking)) {
    next = std::min(next.value_or(*deadline_), *deadline_);
  }
  return next;
}

AcquireAllAction AcquireAllMachine::on_timer(Instant now) {
  if (finished() || queueing()) {
    return finished() ? AcquireAllAction::finish : AcquireAllAction::wait;
  }
  if (deadline_ && !single_ && now >= *deadline_) {
    return at_deadline(now);
  }
  if (phase_ == Phase::resting && now >= rest_until_) {
    return then_queue_ ? queue(*then_queue_) : try_all(now);
  }
  return AcquireAllAction::wait;
}

// ---- the end -----------------------------------------------------------------------------------

AcquireAllAction AcquireAllMachine::at_deadline(Instant now) {
  const bool silent = in_flight_ && (word_ != Word::busy || now - sent_ >= silence);
  if (silent && word_ != Word::failed) {
    result_.detail = "no answer from the store";
    return finish(errc::outcome_unknown);
  }
  return finish(word_ == Word::busy ? errc::timed_out : result_.code);
}

AcquireAllAction AcquireAllMachine::cancel(Instant, errc why) {
  if (queueing()) {
    cancelled_ = why;  // the wait that is being cancelled tells how it ended
    return AcquireAllAction::wait;
  }
  return finished() ? AcquireAllAction::finish : finish(why);
}

AcquireAllAction AcquireAllMachine::finish(std::error_code code) {
  if (in_flight_) {
    give_back_unanswered();
  }
  give_back_held();
  in_flight_ = false;
  result_.code = code;
  phase_ = Phase::finished;
  return AcquireAllAction::finish;
}

bool AcquireAllMachine::holds_any() const {
  return std::ranges::any_of(grants_, &std::optional<AcquireResult>::has_value);
}

void AcquireAllMachine::give_back_held() {
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    if (grants_[i]) {
      give_back(i, grants_[i]->tombstone);
    }
  }
}

// What the ask in flight may have granted, or may grant yet.
void AcquireAllMachine::give_back_unanswered() {
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    if (asked_how_ == AcquireAllAction::ask_all || i == index_) {
      give_back(i, true);
    }
  }
}

void AcquireAllMachine::give_back(std::size_t which, bool tombstone) {
  give_backs_.push_back({claims_[which], {.keep_min_hold = false, .tombstone = tombstone}});
  claims_[which].owner = fresh_();
  grants_[which].reset();
}

}  // namespace holdfast

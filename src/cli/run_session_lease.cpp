// The part of a run that deals with the lease: what the client tells, and what follows from it.
#include "base/duration_text.hpp"
#include "cli/exit_code.hpp"
#include "cli/holder_text.hpp"
#include "cli/run_session.hpp"
#include "core/trust.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace holdfast::cli {

namespace {

// The event that says who holds the name comes on another thread, just before or after the answer.
constexpr Duration refusal_patience = std::chrono::milliseconds{200};

}  // namespace

void RunSession::take_happenings() {
  while (auto happening = events_.pop()) {
    if (auto* acquired = std::get_if<Acquired>(&*happening)) {
      on_acquired(*acquired);
    } else {
      on_event(std::get<Event>(*happening));
    }
  }
}

void RunSession::on_acquired(Acquired& acquired) {
  acquirer_.join();
  silent_at_.reset();
  if (acquired.error) {
    refusal_ = acquired.error;
    refusal_shown_at_ = BootClock::now() + (holder_ ? Duration{0} : refusal_patience);
    return;
  }
  lease_ = std::move(acquired.lease);
  granted_at_ = BootClock::now();
  phase_ = Phase::granted;
  // A signal may have come while the answer was on its way from the other thread.
  take_signals();
  if (phase_ == Phase::granted && stop_signal_ != 0) {
    end(128 + stop_signal_);
  }
  start_if_possible();
}

void RunSession::on_not_acquired(const std::exception_ptr& error) {
  if (stop_signal_ != 0) {
    return end(128 + stop_signal_);
  }
  try {
    std::rethrow_exception(error);
  } catch (const Error& failure) {
    const int code = exit_code_for(failure.code());
    Messages::Fields fields{{"name", options_.name}};
    if (failure.code() == errc::already_done) {
      fields["run"] = *options_.once;
      messages_.say("already_done",
                    "run " + *options_.once + " of " + options_.name +
                        " is done already: nothing was started",
                    fields);
      return end(exit_ok);
    }
    if (code != exit_busy) {
      messages_.say(error_word(static_cast<errc>(failure.code().value())), failure.what(), fields);
      return end(code);
    }
    std::string text = options_.name + " is taken";
    if (holder_) {
      text = options_.name + " is " + held_text(*holder_);
      fields["holder"] = to_json(*holder_);
    }
    if (options_.wait != Duration{0}) {
      text += "; gave up after " + duration_text(options_.wait.value_or(Duration{0}));
    }
    messages_.say(error_word(static_cast<errc>(failure.code().value())), text, fields);
    end(options_.busy_exit);
  }
}

void RunSession::on_event(const Event& event) {
  switch (event.kind) {
    case Event::Kind::waiting:
      silent_at_.reset();
      holder_ = event.holder;
      return messages_.say("waiting",
                           "waiting for " + options_.name + ", " + held_text(event.holder),
                           {{"name", options_.name}, {"holder", to_json(event.holder)}});
    case Event::Kind::not_granted:
      if (event.holder.owner != OwnerId{}) {
        holder_ = event.holder;
      }
      refusal_shown_at_ = BootClock::now();
      return;
    case Event::Kind::granted:
      return messages_.detail(
          "granted", "got " + options_.name + " with fence " + std::to_string(to_int(event.fence)),
          {{"name", options_.name}, {"fence", to_int(event.fence)}});
    case Event::Kind::renewed:
      renewal_trouble_ = false;
      supervisor_.extend(deadline());
      return start_if_possible();
    case Event::Kind::renewal_failed:
      if (!lease_over_ && !std::exchange(renewal_trouble_, true)) {
        messages_.say("renewal_failed",
                      "cannot renew " + options_.name + ": " + event.detail +
                          "; trying on, the command is stopped in " +
                          duration_text(deadline().term_at - BootClock::now()),
                      {{"name", options_.name}, {"detail", event.detail}});
      }
      return;
    case Event::Kind::lost:
      return on_lost(event);
    case Event::Kind::released:
      return;
  }
}

void RunSession::on_lost(const Event& event) {
  if (phase_ == Phase::running) {
    supervisor_.lose();
  }
  if (!std::exchange(lease_over_, true)) {
    messages_.say(
        "lost", "lost " + options_.name + ": " + event.code.message(),
        {{"name", options_.name}, {"reason", error_word(static_cast<errc>(event.code.value()))}});
  }
  start_if_possible();  // not any more: it ends the run if nothing was started
}

// A lease that was handed on is provisional: until its first renewal the window may be too short
// for a command that wants a grace.
void RunSession::start_if_possible() {
  if (phase_ != Phase::granted) {
    return;
  }
  if (const std::error_code why = lease_.why_lost()) {
    return end(why == errc::expired ? exit_unavailable : exit_lost);
  }
  const ChildDeadline window = deadline();
  if (BootClock::now() < window.term_at) {
    phase_ = Phase::running;
    if (!supervisor_.start(window, environment())) {
      messages_.say("not_started", "the supervisor does not listen: the command was not started");
      end(exit_unavailable);
    }
  }
}

ChildDeadline RunSession::deadline() const {
  const Instant until = lease_.trusted_until();
  return {until - options_.grace, until};
}

// The end of trust is that of --max-hold, not that of a renewal which failed.
bool RunSession::at_max_hold() const {
  constexpr Duration news = std::chrono::milliseconds{500};  // from the asking to granted_at_
  const LeaseOptions& lease = options_.lease;
  return lease.max_hold && lease_.trusted_until() + margin_of(lease, lease.ttl) + news >=
                               granted_at_ + *lease.max_hold;
}

std::vector<std::string> RunSession::environment() const {
  return {"HOLDFAST_NAME=" + options_.name,
          "HOLDFAST_FENCE=" + std::to_string(to_int(lease_.fence())),
          "HOLDFAST_FLOOR=" + std::to_string(to_int(lease_.floor())),
          "HOLDFAST_OWNER=" + lease_.owner().text(),
          "HOLDFAST_TTL=" + exact_duration_text(lease_.ttl()),
          "HOLDFAST_STORE=" + client_.url()};
}

}  // namespace holdfast::cli

#include "store/redis/connection.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "store/redis/keys.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr Duration quiet_max = std::chrono::seconds{10};

}  // namespace

Connection::Connection(const Options& options, Instant now)
    : options_(options), deadline_(now + options.op_timeout), wake_at_(deadline_) {}

// ---- requests ----------------------------------------------------------------------------------

void Connection::write(const Request& request, bool in_full) {
  const std::size_t before = output_.size();
  if (in_full) {
    request.write_in_full(output_);
  } else {
    request.write(output_);
  }
  written_ += output_.size() - before;
}

void Connection::send(Ask ask) {
  if (ask.request.asking()) {
    write(Request::of_command("ASKING"), false);
    pending_.push_back({.ask = {.deadline = ask.deadline}, .end = written_});
  }
  ask.in_full = ask.in_full || ask.request.in_full();
  const bool wait = ask.needs_acks != nullptr && options_.acks.on();
  const Instant deadline = ask.deadline;
  write(ask.request, ask.in_full);
  acquires_ += ask.acquires.empty() ? 0U : 1U;
  wake_at_ = std::min(wake_at_, ask.deadline);
  pending_.push_back({.ask = std::move(ask), .end = written_});
  if (wait) {
    send_wait(deadline);
  }
}

// WAIT counts what this connection wrote, so it must go over the same one, right behind.
void Connection::send_wait(Instant deadline) {
  Ask wait;
  wait.request = Request::of_command("WAIT");
  wait.request.add_number(acks_wanted())
      .add_number(std::max<std::int64_t>(options_.acks.timeout / std::chrono::milliseconds{1}, 1));
  wait.deadline = deadline;
  write(wait.request, false);
  pending_.push_back({.ask = std::move(wait), .end = written_, .is_wait = true});
}

std::uint32_t Connection::acks_wanted() const noexcept { return options_.acks.wanted(replicas_); }

bool Connection::awaits(const OwnerId& owner) const noexcept {
  return acquires_ != 0 && std::any_of(pending_.begin(), pending_.end(), [&](const Pending& one) {
           return std::ranges::find(one.ask.acquires, owner) != one.ask.acquires.end();
         });
}

// ---- handshake ---------------------------------------------------------------------------------

void Connection::on_connected() {
  if (state_ != State::connecting) {
    return;
  }
  state_ = State::handshake;
  const Place& place = options_.place;
  if (!options_.password.empty() || !place.user.empty()) {
    steps_.push_back(Step::auth);
    output_ += place.user.empty() ? encode({"AUTH", options_.password})
                                  : encode({"AUTH", place.user, options_.password});
  }
  if (options_.must_be_primary || (options_.acks.on() && !options_.subscriber)) {
    steps_.push_back(Step::role);
    output_ += encode({"ROLE"});
  }
  if (options_.subscriber) {
    steps_.push_back(Step::subscribe);
    output_ += encode({"SUBSCRIBE", options_.channel});
  } else {
    if (options_.database != 0) {
      steps_.push_back(Step::select);
      output_ += encode({"SELECT", std::to_string(options_.database)});
    }
    steps_.push_back(Step::probe);
    const std::string sample = place.prefix + unit_separator + "probe";
    output_ += encode({"EVAL", scripts().probe.text, "0", sample, options_.channel,
                       place.prefix + unit_separator + "format", format_version});
  }
  written_ = output_.size();
}

std::optional<Failed> Connection::step_failure(Step step, const Reply& reply) const {
  const std::string_view error = reply.error();
  if (step == Step::auth && error.starts_with("ERR")) {
    // "called without any password configured", or a server too old for user names. One that does
    // not know AUTH, as some proxies, repeats what it was sent: that must not be shown.
    const bool unknown =
        error.starts_with("ERR unknown command") ||
        (!options_.password.empty() && error.find(options_.password) != error.npos);
    return failed_with(errc::access_denied, options_.place,
                       unknown ? "it takes no passwords: it does not know the command AUTH"
                               : "the password was refused: " + std::string(error.substr(4)));
  }
  if (step == Step::select && error.starts_with("ERR") && error.find("cluster") == error.npos) {
    return failed_with(errc::invalid_url, options_.place,
                       "there is no database " + std::to_string(options_.database));
  }
  if (!error.empty()) {
    return failure_of(error, options_.place);
  }
  if (step == Step::role && options_.must_be_primary && reply.at(0).text() != "master") {
    return failed_with(errc::store_unavailable, options_.place,
                       "the server that was the primary is a replica now");
  }
  if (step == Step::probe && reply.size() > 0) {
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < reply.size(); ++i) {
      missing.emplace_back(reply.at(i).text());
    }
    return missing_rights(missing, options_.place);
  }
  return std::nullopt;
}

void Connection::on_step_reply(const Reply& reply, Instant now) {
  if (auto why = step_failure(steps_.front(), reply)) {
    close(*why);
    return;
  }
  if (steps_.front() == Step::role) {
    count_replicas(reply);
  }
  steps_.pop_front();
  if (!steps_.empty()) {
    return;
  }
  state_ = State::ready;
  was_ready_ = true;
  ping_at_ = now + quiet_max;
  events_.emplace_back(Ready{});
}

// "master", offset, [[host, port, offset], …]
void Connection::count_replicas(const Reply& role) {
  replicas_ = static_cast<std::uint32_t>(role.at(2).size());
}

// ---- replies -----------------------------------------------------------------------------------

void Connection::on_bytes(std::string_view bytes, Instant now) {
  if (state_ == State::closed || state_ == State::connecting) {
    return;
  }
  reader_.feed(bytes);
  while (state_ != State::closed) {
    auto reply = reader_.next();
    if (!reply) {
      break;
    }
    on_reply(*std::move(reply), now);
  }
  if (state_ != State::closed && reader_.violated()) {
    distrust("the answer is not of the Redis protocol (" + reader_.why() + ")");
  }
  if (state_ == State::suspect && pending_.empty()) {
    close(failed_with(errc::store_unavailable, options_.place, "was too slow to answer"));
  }
  schedule();
}

void Connection::on_reply(Reply reply, Instant now) {
  if (state_ == State::handshake) {
    on_step_reply(reply, now);
    return;
  }
  if (options_.subscriber) {
    on_push(reply, now);
    return;
  }
  if (pending_.empty()) {
    distrust("an answer came that nobody asked for");
    return;
  }
  Pending done = std::move(pending_.front());
  pending_.pop_front();
  acquires_ -= done.ask.acquires.empty() ? 0U : 1U;
  const std::string_view error = reply.error();
  if (error.starts_with("NOSCRIPT") && done.ask.request.is_script() && !done.ask.in_full &&
      !done.abandoned) {
    done.ask.in_full = true;
    send(std::move(done.ask));
    return;
  }
  if (done.is_wait) {
    on_acknowledged(std::move(done), reply);
  } else if (!done.abandoned && done.ask.handler) {
    on_answer(std::move(done), std::move(reply));
  }
}

void Connection::on_answer(Pending done, Reply reply) {
  const std::string_view error = reply.error();
  if (!error.empty() && !options_.raw_errors) {
    events_.emplace_back(Answered{std::move(done.ask.handler), failure_of(error, options_.place)});
    if (options_.must_be_primary && is_readonly(error)) {
      distrust("the server that was the primary is a replica now");
    }
  } else if (done.ask.needs_acks != nullptr && options_.acks.on() && done.ask.needs_acks(reply)) {
    Pending& wait = pending_.front();  // nothing is ever written in between
    wait.ask.handler = std::move(done.ask.handler);
    wait.ask.acquires = std::move(done.ask.acquires);
    acquires_ += wait.ask.acquires.empty() ? 0U : 1U;
    wait.answer = std::move(reply);
  } else {
    events_.emplace_back(Answered{std::move(done.ask.handler), std::move(reply)});
  }
}

void Connection::on_acknowledged(Pending wait, const Reply& reply) {
  if (wait.abandoned || !wait.ask.handler) {
    return;
  }
  const std::int64_t wanted = acks_wanted();
  if (reply.is_integer() && reply.integer() >= wanted) {
    events_.emplace_back(Answered{std::move(wait.ask.handler), std::move(wait.answer)});
    return;
  }
  const std::string what = reply.is_integer()
                               ? std::to_string(reply.integer()) + " of " + std::to_string(wanted) +
                                     " replicas acknowledged within " +
                                     duration_text(options_.acks.timeout)
                               : "the server does not tell what its replicas acknowledged: " +
                                     std::string(reply.error());
  events_.emplace_back(Answered{std::move(wait.ask.handler),
                                failed_with(errc::store_unavailable, options_.place, what, true)});
}

void Connection::on_push(const Reply& reply, Instant now) {
  ping_at_ = now + quiet_max;
  ping_sent_ = false;
  if (reply.is_error()) {
    close(failure_of(reply.error(), options_.place));
  } else if (reply.size() == 3 && reply.at(0).text() == "message") {
    events_.emplace_back(Message{std::string(reply.at(2).text())});
  }
}

void Connection::distrust(std::string_view what) {
  close(failed_with(errc::store_unavailable, options_.place, what));
}

// ---- time --------------------------------------------------------------------------------------

void Connection::on_time(Instant now) {
  switch (state_) {
    case State::connecting:
    case State::handshake:
      if (now >= deadline_) {
        close(failed_with(errc::store_unavailable, options_.place,
                          "no answer within " + duration_text(options_.op_timeout)));
      }
      break;
    case State::ready:
      expire_overdue(now);
      ping_if_quiet(now);
      break;
    case State::suspect:
      expire_overdue(now);
      if (now >= deadline_) {
        close(failed_with(errc::store_unavailable, options_.place, "stopped answering"));
      }
      break;
    case State::closed:
      break;
  }
  schedule();
}

void Connection::expire_overdue(Instant now) {
  bool overdue = false;
  for (Pending& one : pending_) {
    if (one.abandoned || one.ask.deadline > now) {
      continue;
    }
    one.abandoned = true;
    overdue = true;
    if (one.ask.handler) {
      events_.emplace_back(
          Answered{std::exchange(one.ask.handler, {}),
                   failed_with(errc::outcome_unknown, options_.place,
                               "no answer within " + duration_text(options_.op_timeout), true)});
    }
  }
  if (overdue && state_ == State::ready) {
    become_suspect(now);
  }
}

void Connection::become_suspect(Instant now) {
  state_ = State::suspect;
  deadline_ = now + options_.op_timeout;
  events_.emplace_back(Suspect{});
}

// A subscription that is silently dead looks like one without news.
void Connection::ping_if_quiet(Instant now) {
  if (!options_.subscriber || now < ping_at_) {
    return;
  }
  if (ping_sent_) {
    close(failed_with(errc::store_unavailable, options_.place, "stopped answering"));
    return;
  }
  output_ += encode({"PING"});
  ping_sent_ = true;
  ping_at_ = now + options_.op_timeout;
}

void Connection::schedule() {
  switch (state_) {
    case State::connecting:
    case State::handshake:
      wake_at_ = deadline_;
      break;
    case State::ready:
    case State::suspect:
      wake_at_ = state_ == State::suspect ? deadline_ : Instant::max();
      if (options_.subscriber) {
        wake_at_ = std::min(wake_at_, ping_at_);
      }
      for (const Pending& one : pending_) {
        if (!one.abandoned) {
          wake_at_ = std::min(wake_at_, one.ask.deadline);
        }
      }
      break;
    case State::closed:
      wake_at_ = Instant::max();
      break;
  }
}

// ---- the end -----------------------------------------------------------------------------------

void Connection::on_closed(const Failed& why, std::size_t unsent) { close(why, unsent); }

void Connection::close(const Failed& why, std::size_t unsent) {
  if (state_ == State::closed) {
    return;
  }
  state_ = State::closed;
  const std::uint64_t left = written_ - std::min<std::uint64_t>(written_, unsent + output_.size());
  output_.clear();
  for (Pending& one : pending_) {
    if (!one.ask.handler) {
      continue;
    }
    Failed failed = why;
    // Behind a WAIT there is a request that was executed.
    failed.may_have_had_effect = one.is_wait || one.end <= left;
    if (failed.may_have_had_effect) {
      failed.code = errc::outcome_unknown;
    } else if (was_ready_) {
      events_.emplace_back(Unsent{std::move(one.ask)});
      continue;
    }
    events_.emplace_back(Answered{std::move(one.ask.handler), std::move(failed)});
  }
  pending_.clear();
  acquires_ = 0;
  events_.emplace_back(Closed{why, was_ready_});
  schedule();
}

}  // namespace holdfast::redis

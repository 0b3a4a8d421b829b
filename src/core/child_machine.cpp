#include "core/child_machine.hpp"

#include <algorithm>
#include <csignal>

namespace holdfast {

namespace {

using Type = ChildAction::Type;

// A killed process is gone within milliseconds unless it sleeps in the kernel or belongs to another
// user; looking again ever more slowly costs little and gives up never.
constexpr Duration first_round_pause = std::chrono::milliseconds{10};
constexpr Duration last_round_pause = std::chrono::seconds{1};

bool asks_to_end(int signal) noexcept {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace

ChildActions ChildMachine::start(Instant now, ChildDeadline deadline) {
  if (state_ != State::idle) {
    return {};
  }
  if (now >= deadline.term_at) {
    state_ = State::finished;
    return {{Type::report_late}, {Type::finish}};
  }
  deadline_ = deadline;
  state_ = State::running;
  return {{Type::spawn}};
}

void ChildMachine::extend(ChildDeadline deadline) {
  if (alive() && !lease_over_ && !wrapper_gone_) {
    deadline_.term_at = std::max(deadline_.term_at, deadline.term_at);
    deadline_.kill_at = std::max(deadline_.kill_at, deadline.kill_at);
  }
}

ChildActions ChildMachine::forward(Instant now, int signal) {
  if (!alive()) {
    return {};
  }
  ChildActions actions;
  if (state_ == State::running) {
    actions.push_back({Type::signal_main, signal});
  } else if (asks_to_end(signal)) {
    actions.push_back({Type::stop_tree});  // no main process is left to pass it on
  }
  if (asks_to_end(signal)) {
    grace_ends_ = std::min(grace_ends_.value_or(Instant::max()), now + grace_);
  }
  return actions;
}

ChildActions ChildMachine::lose(Instant now) {
  if (!alive() || lease_over_) {
    return {};
  }
  ChildActions actions;
  stop_for_lease(actions);
  grace_ends_ = std::min(grace_ends_.value_or(Instant::max()), now + grace_);
  kill_if_due(now, actions);
  return actions;
}

ChildActions ChildMachine::wrapper_gone(Instant now) {
  if (state_ == State::idle) {
    state_ = State::finished;
    return {{Type::finish}};
  }
  if (!alive() || wrapper_gone_) {
    return {};
  }
  wrapper_gone_ = true;
  grace_ends_ = now;
  ChildActions actions;
  kill_if_due(now, actions);
  return actions;
}

ChildActions ChildMachine::spawned() {
  return state_ == State::running ? ChildActions{{Type::report_started}} : ChildActions{};
}

ChildActions ChildMachine::spawn_failed(int error) {
  state_ = State::finished;
  return {{Type::report_refused, error}, {Type::finish}};
}

ChildActions ChildMachine::main_exited(int status) {
  if (state_ != State::running) {
    return {};
  }
  state_ = State::lingering;
  if (grace_ends_ && !lease_over_ && !wrapper_gone_) {
    // A shell that dies of the signal leaves its children without a word: it is theirs as well.
    return {{Type::report_exited, status}, {Type::stop_tree}};
  }
  return {{Type::report_exited, status}};
}

ChildActions ChildMachine::tree_gone() {
  if (!alive()) {
    return {};
  }
  state_ = State::finished;
  return {{Type::report_gone}, {Type::finish}};
}

ChildActions ChildMachine::on_timer(Instant now) {
  if (!alive()) {
    return {};
  }
  ChildActions actions;
  if (!lease_over_ && !wrapper_gone_ && now >= deadline_.term_at) {
    stop_for_lease(actions);
  }
  kill_if_due(now, actions);
  return actions;
}

std::optional<Instant> ChildMachine::deadline() const {
  if (!alive()) {
    return std::nullopt;
  }
  if (next_round_) {
    return lease_over_ || wrapper_gone_ ? *next_round_ : std::min(*next_round_, deadline_.term_at);
  }
  return lease_over_ ? kill_due() : std::min(deadline_.term_at, kill_due());
}

void ChildMachine::stop_for_lease(ChildActions& actions) {
  lease_over_ = true;
  actions.push_back({Type::report_lost});
  actions.push_back({Type::stop_tree});
}

void ChildMachine::kill_if_due(Instant now, ChildActions& actions) {
  if (now < next_round_.value_or(kill_due())) {
    return;
  }
  actions.push_back({Type::kill_tree});
  round_pause_ = next_round_ ? std::min(2 * round_pause_, last_round_pause) : first_round_pause;
  next_round_ = now + round_pause_;
}

Instant ChildMachine::kill_due() const {
  return std::min(deadline_.kill_at, grace_ends_.value_or(Instant::max()));
}

}  // namespace holdfast

#include "cli/run_session.hpp"

#include "cli/exit_code.hpp"
#include "cli/exit_within.hpp"
#include "cli/process_tree.hpp"
#include "cli/secrets.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

constexpr Duration left_behind_patience = std::chrono::seconds{1};
constexpr Duration silence_patience = std::chrono::seconds{2};
constexpr Duration stop_patience = std::chrono::milliseconds{700};

bool asks_to_end(int signal) noexcept {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

std::string signal_text(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name != nullptr ? std::string{"SIG"} + name : "signal " + std::to_string(signal);
}

}  // namespace

RunSession::RunSession(const RunOptions& options, const SignalPlan& signals, Supervisor supervisor,
                       std::set<pid_t> own_children)
    : options_(options),
      messages_(options.messages),
      supervisor_(std::move(supervisor)),
      own_children_(std::move(own_children)),
      client_(options.store, ClientOptions{.password = {}, .host = {}, .observer = &events_}),
      lock_(client_, options),
      signal_source_(signalfd(-1, &signals.taken, SFD_CLOEXEC | SFD_NONBLOCK)) {}

RunSession::~RunSession() {
  // Closing waits for clean-up that the store may never answer; a TTL does it then. Who asked us
  // to stop is not kept waiting.
  std::optional<ExitWithin> bound;
  if (stop_signal_ != 0) {
    bound.emplace(stop_patience, exit_code_);
  }
  stop_.request_stop();
  client_.close();  // no event may come once the queue is gone
}

int RunSession::run() {
  begin_acquiring();
  while (phase_ != Phase::over) {
    wait();
    // Signals first: a request to stop that came before the grant must find nothing started.
    take_signals();
    take_happenings();
    take_reports();
    const Instant now = BootClock::now();
    if (refusal_ && now >= refusal_shown_at_) {
      on_not_acquired(std::exchange(refusal_, {}));
    }
    if (left_behind_at_ && now >= left_behind_at_) {
      tell_left_behind();
    }
    if (silent_at_ && now >= silent_at_) {
      silent_at_.reset();
      messages_.say("no_answer", "no answer yet from " + client_.url() + "; trying on",
                    {{"name", options_.name}});
    }
  }
  return exit_code_;
}

// On a thread of its own, because the quickest acquire is one that blocks its caller.
void RunSession::begin_acquiring() {
  if (options_.wait.value_or(Duration::max()) > silence_patience) {
    silent_at_ = BootClock::now() + silence_patience;
  }
  acquirer_ = std::jthread{[this] {
    Acquired acquired;
    try {
      acquired.lease = lock_.acquire({.timeout = options_.wait, .stop = stop_.get_token()});
    } catch (...) {
      acquired.error = std::current_exception();
    }
    events_.push(std::move(acquired));
  }};
}

void RunSession::wait() {
  std::array<pollfd, 3> waits{{{signal_source_.get(), POLLIN, 0},
                               {events_.descriptor(), POLLIN, 0},
                               {supervisor_.ended() ? -1 : supervisor_.descriptor(), POLLIN, 0}}};
  poll(waits.data(), waits.size(), milliseconds_to_wait());
}

int RunSession::milliseconds_to_wait() const {
  Instant next = Instant::max();
  if (refusal_) {
    next = *refusal_shown_at_;
  }
  for (const auto& other : {left_behind_at_, silent_at_}) {
    next = std::min(next, other.value_or(Instant::max()));
  }
  if (next == Instant::max()) {
    return -1;
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - BootClock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

// ---- signals -----------------------------------------------------------------------------------

void RunSession::take_signals() {
  signalfd_siginfo info{};
  while (read(signal_source_.get(), &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) {
      reap();
    } else if (signal != SIGPIPE && signal != SIGXFSZ) {
      on_signal(signal, info.ssi_code == SI_KERNEL);
    }
  }
}

void RunSession::on_signal(int signal, bool from_terminal) {
  if (phase_ == Phase::running) {
    // The terminal sends to the whole foreground group: the command has it already. But of its own
    // end it tells only the leader of the session, as we are behind "ssh -t host holdfast run".
    const bool only_us = signal == SIGHUP && getsid(0) == getpid();
    if (!from_terminal || only_us) {
      supervisor_.forward(signal);
    }
    return;
  }
  if (!asks_to_end(signal) || stop_signal_ != 0) {
    return;
  }
  stop_signal_ = signal;
  messages_.say("cancelled",
                signal_text(signal) + ": " + options_.command.front() + " was not started",
                {{"name", options_.name}, {"signal", signal}});
  if (phase_ == Phase::granted) {
    end(128 + signal);
  } else {
    stop_.request_stop();  // the answer ends the run; a grant that comes with it is given back
  }
}

// Adopted orphans too: we are a subreaper, and may be process 1 of a container.
void RunSession::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == command_pid_ && !status_) {
      status_ = status;  // the supervisor died before it could tell
    }
  }
}

// ---- the command -------------------------------------------------------------------------------

void RunSession::take_reports() {
  while (const auto report = supervisor_.receive()) {
    on_report(*report);
  }
  if (supervisor_.ended() && phase_ != Phase::over) {
    on_supervisor_gone();
  }
}

void RunSession::on_report(Report report) {
  switch (report.type) {
    case Report::Type::started:
      command_pid_ = report.value;
      return messages_.detail(
          "started",
          "started " + options_.command.front() + " as pid " + std::to_string(report.value),
          {{"pid", report.value}});
    case Report::Type::refused:
      messages_.say("not_started",
                    "cannot run " + options_.command.front() + ": " +
                        std::generic_category().message(report.value),
                    {{"command", options_.command.front()}});
      return end(exit_code_of_exec(report.value));
    case Report::Type::late:
      messages_.say("not_started", "the lease ran out before the command could be started");
      return end(exit_lost);
    case Report::Type::lost:
      if (!std::exchange(lease_over_, true)) {
        const bool held_long_enough = at_max_hold();
        messages_.say("lost",
                      (held_long_enough ? "the longest hold of " : "no proof in time that ") +
                          options_.name + (held_long_enough ? " is reached" : " is still ours") +
                          ": the command is being stopped",
                      {{"name", options_.name},
                       {"reason", error_word(held_long_enough ? errc::max_hold : errc::expired)}});
      }
      left_behind_at_ = lease_.trusted_until() + left_behind_patience;
      return;
    case Report::Type::exited:
      status_ = report.value;
      if (!lease_over_) {
        left_behind_at_ = BootClock::now() + left_behind_patience;
      }
      return;
    case Report::Type::gone:
      return end(lease_over_ ? exit_lost : exit_code_of_status(status_.value_or(SIGKILL)));
  }
}

// The command died with it; what it had started is ours now and must not outlive the lock.
void RunSession::on_supervisor_gone() {
  messages_.say("supervisor_killed", "the supervisor was killed: ending what is left");
  while (!descendants_of(getpid(), own_children_).empty()) {
    kill_tree(getpid(), 0, own_children_);
    reap();
    poll(nullptr, 0, 20);
  }
  end(lease_over_ ? exit_lost : exit_code_of_status(status_.value_or(SIGKILL)));
}

void RunSession::tell_left_behind() {
  left_behind_at_.reset();
  std::string pids;
  Messages::Fields list = Messages::Fields::array();
  for (const pid_t pid : descendants_of(supervisor_.pid())) {
    pids += (pids.empty() ? "" : ", ") + std::to_string(pid);
    list.push_back(pid);
  }
  if (pids.empty()) {
    return;
  }
  const std::string text =
      lease_over_ ? "these processes could not be ended in time, which takes the right to kill "
                    "them: pid "
                  : "the command has ended but left processes behind; " + options_.name +
                        " stays locked until they end: pid ";
  messages_.say("left_behind", text + pids, {{"name", options_.name}, {"pids", list}});
}

// ---- the end -----------------------------------------------------------------------------------

void RunSession::end(int code) {
  const bool succeeded = phase_ == Phase::running && code == exit_ok;
  phase_ = Phase::over;
  exit_code_ = code;
  if (lease_) {
    give_back(succeeded);
  }
  messages_.detail("ended", "exit code " + std::to_string(exit_code_),
                   {{"name", options_.name}, {"exit", exit_code_}});
}

void RunSession::give_back(bool succeeded) {
  if (const std::error_code why = lease_.why_lost(); why == errc::expired || why == errc::taken) {
    return lease_.abandon();  // there is nothing left to give back, and nobody may answer
  }
  std::error_code code;
  lock_.give_back(std::move(lease_), succeeded, code);
  if (code && !lease_over_) {
    on_not_given_back(code, succeeded);
  }
}

void RunSession::on_not_given_back(std::error_code code, bool was_done) {
  Messages::Fields fields{{"name", options_.name}};
  if (!options_.once || !was_done) {
    return messages_.say("not_released",
                         "could not give " + options_.name + " back: " + code.message(), fields);
  }
  fields["run"] = *options_.once;
  std::string text = "run " + *options_.once + " of " + options_.name;
  if (code == failure::ownership_lost) {
    exit_code_ = exit_lost;
    text += " is not marked as done and will run again: " + code.message();
  } else {
    text += " may not be marked as done, and then runs again: " + code.message();
  }
  messages_.say("not_marked", text, fields);
}

}  // namespace holdfast::cli

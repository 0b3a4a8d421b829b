// One `holdfast run`, from the first question to the store until its exit code: the wrapper's one
// thread that waits for signals, for the lease and for the supervisor at once.
#pragma once

#include <holdfast/client.hpp>

#include "cli/event_queue.hpp"
#include "cli/messages.hpp"
#include "cli/run_lock.hpp"
#include "cli/run_options.hpp"
#include "cli/start_state.hpp"
#include "cli/supervisor.hpp"

#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace holdfast::cli {

// Not thread-safe; run() once, on the main thread, with the signals of `signals.taken` blocked.
class RunSession {
 public:
  // `own_children`: processes that were our children before (exec keeps them); never touched.
  RunSession(const RunOptions& options, const SignalPlan& signals, Supervisor supervisor,
             std::set<pid_t> own_children);
  ~RunSession();
  RunSession(const RunSession&) = delete;
  RunSession& operator=(const RunSession&) = delete;

  int run();

 private:
  // acquiring -> granted (the trust window is still too short to start) -> running -> over.
  enum class Phase : std::uint8_t { acquiring, granted, running, over };

  void begin_acquiring();
  void wait();
  int milliseconds_to_wait() const;

  void take_signals();
  void on_signal(int signal, bool from_terminal);
  void reap();

  void take_happenings();
  void on_acquired(Acquired& acquired);
  void on_not_acquired(const std::exception_ptr& error);
  void on_event(const Event& event);
  void on_lost(const Event& event);
  void start_if_possible();
  ChildDeadline deadline() const;
  bool at_max_hold() const;
  std::vector<std::string> environment() const;

  void take_reports();
  void on_report(Report report);
  void on_supervisor_gone();
  void tell_left_behind();

  void end(int code);
  void give_back(bool succeeded);
  void on_not_given_back(std::error_code code, bool was_done);

  const RunOptions& options_;
  Messages messages_;
  Supervisor supervisor_;
  std::set<pid_t> own_children_;
  EventQueue events_{};  // outlives the client, which tells it
  Client client_;
  RunLock lock_;
  Descriptor signal_source_;
  std::stop_source stop_{};
  std::jthread acquirer_{};

  Phase phase_ = Phase::acquiring;
  int exit_code_ = 0;
  int stop_signal_ = 0;  // asked to end before the command was started
  Lease lease_{};
  Instant granted_at_{};                       // as we heard of it
  std::optional<Holder> holder_{};             // whom we were last told of
  std::exception_ptr refusal_{};               // acquiring failed; its event may tell more
  std::optional<Instant> refusal_shown_at_{};  // latest
  bool renewal_trouble_ = false;               // told already
  bool lease_over_ = false;
  pid_t command_pid_ = 0;
  std::optional<int> status_{};              // of the command's main process
  std::optional<Instant> left_behind_at_{};  // when to tell of processes left behind
  std::optional<Instant> silent_at_{};       // when to tell that the store has not answered
};

}  // namespace holdfast::cli

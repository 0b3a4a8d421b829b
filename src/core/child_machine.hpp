// Decides when a supervised command and everything it started is told to stop, and when it is
// killed. Pure: told the time, returns actions. The driver is src/cli/supervisor.cpp.
//
//   idle --start--> running --main_exited--> lingering --tree_gone--> finished
//    |                |  \_______________________________tree_gone______^
//    '--wrapper_gone--'-- kills the tree at once (never started: finished at once)
//
// Stopping is beside these states. It begins with TERM for the whole tree, for one of two reasons:
// the lease (its deadline came, or it was lost), or a person (a signal passed on to the command).
// KILL follows after the grace, and never later than the last deadline's `kill_at`.
#pragma once

#include <holdfast/types.hpp>

#include <optional>
#include <vector>

namespace holdfast {

// The trust window as the command sees it: without a later deadline it is asked to stop at
// `term_at` and is gone after `kill_at`.
struct ChildDeadline {
  Instant term_at{};
  Instant kill_at{};
};

struct ChildAction {
  enum class Type : std::uint8_t {
    spawn,           // start the command; answer with spawned() or spawn_failed()
    signal_main,     // send signal `value` to the command's main process
    stop_tree,       // send TERM, then CONT, to every descendant
    kill_tree,       // one round of STOP then KILL over every descendant
    report_started,  // tell the wrapper that the command runs
    report_refused,  // tell the wrapper that the command was not started: errno `value`
    report_late,     // tell the wrapper that the deadline passed before the start
    report_lost,     // tell the wrapper that the tree is being stopped because of the lease
    report_exited,   // tell the wrapper the main process' wait status `value`
    report_gone,     // tell the wrapper that no descendant is left
    finish,          // leave; no action follows
  };
  Type type = Type::finish;
  int value = 0;
  bool operator==(const ChildAction&) const = default;
};
using ChildActions = std::vector<ChildAction>;

class ChildMachine {
 public:
  // `grace`: from TERM to KILL where no deadline says otherwise. Not negative.
  explicit ChildMachine(Duration grace) : grace_(grace) {}

  // --- from the wrapper ---
  ChildActions start(Instant now, ChildDeadline deadline);
  // A renewal was confirmed. Deadlines only move later; an earlier one is ignored, and so is any
  // once the lease has made the tree stop: what got TERM must not be surprised by a second life.
  void extend(ChildDeadline deadline);
  // Pass a signal on. TERM, INT, HUP and QUIT also start the grace; what the main process leaves
  // behind when it ends in that time gets TERM.
  ChildActions forward(Instant now, int signal);
  // The lease is known to be lost: TERM at once, KILL after the grace or at the last `kill_at`.
  ChildActions lose(Instant now);
  // The other end of the pipe is closed: nobody renews any more, so nothing may go on.
  ChildActions wrapper_gone(Instant now);

  // --- from the system ---
  ChildActions spawned();
  ChildActions spawn_failed(int error);
  ChildActions main_exited(int status);
  ChildActions tree_gone();
  ChildActions on_timer(Instant now);

  // When on_timer() is to be called next. May change in every call above; unset: never.
  std::optional<Instant> deadline() const;
  bool finished() const noexcept { return state_ == State::finished; }

 private:
  enum class State : std::uint8_t { idle, running, lingering, finished };

  bool alive() const noexcept { return state_ == State::running || state_ == State::lingering; }
  void stop_for_lease(ChildActions& actions);
  void kill_if_due(Instant now, ChildActions& actions);
  Instant kill_due() const;

  Duration grace_;
  State state_ = State::idle;
  ChildDeadline deadline_{};
  bool lease_over_ = false;              // stopping because of the lease
  bool wrapper_gone_ = false;            // nobody is there to report to
  std::optional<Instant> grace_ends_{};  // stopping: when the grace is over
  std::optional<Instant> next_round_{};  // killing: when to look again
  Duration round_pause_{};
};

}  // namespace holdfast

#include "cli/supervisor_process.hpp"

#include "cli/process_tree.hpp"
#include "cli/spawn.hpp"
#include "cli/start_state.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

// Maps each action of the machine to one system call, and each system event to one call of it.
class SupervisorProcess {
 public:
  SupervisorProcess(const SupervisorPlan& plan, pid_t process_group, SupervisorLink wrapper)
      : plan_(plan),
        process_group_(process_group),
        wrapper_(std::move(wrapper)),
        machine_(plan.grace) {}

  void run() {
    prepare();
    while (!machine_.finished()) {
      arm();
      wait();
      // Orders first: a renewal that waits in the pipe is proof that the timer does not know of.
      take_orders();
      perform(machine_.on_timer(BootClock::now()));
      reap();
    }
  }

 private:
  void prepare() {
    block_all_signals();
    // A group of its own: a signal sent to the job (Ctrl-Z, kill -STOP, kill -KILL) does not meet
    // the one process that has to outlive it.
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "holdfast-watch");
    child_signal_ignored_ = signal(SIGCHLD, SIG_DFL) == SIG_IGN;  // ignored: nothing to wait for
    sigset_t child{};
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    children_ = Descriptor{signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK)};
    timer_ = Descriptor{timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)};
  }

  void arm() const {
    itimerspec spec{};
    if (const auto due = machine_.deadline()) {
      // Zero would disarm; a due timer fires at once with any instant of the past.
      const auto count = std::max<std::int64_t>(due->time_since_epoch().count(), 1);
      spec.it_value.tv_sec = count / 1'000'000'000;
      spec.it_value.tv_nsec = count % 1'000'000'000;
    }
    timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
  }

  void wait() const {
    std::array<pollfd, 3> waits{{{children_.get(), POLLIN, 0},
                                 {timer_.get(), POLLIN, 0},
                                 {wrapper_.closed() ? -1 : wrapper_.descriptor(), POLLIN, 0}}};
    poll(waits.data(), waits.size(), -1);
    drain(children_);
    drain(timer_);
  }

  static void drain(const Descriptor& source) {
    std::array<char, 4096> buffer{};
    while (read(source.get(), buffer.data(), buffer.size()) > 0) {
    }
  }

  void take_orders() {
    while (!wrapper_.closed() && !machine_.finished()) {
      const auto order = wrapper_.receive_order();
      if (order) {
        obey(*order);
      } else if (wrapper_.closed()) {
        perform(machine_.wrapper_gone(BootClock::now()));
      } else {
        return;
      }
    }
  }

  void obey(const Order& order) {
    const Instant now = BootClock::now();
    switch (order.type) {
      case Order::Type::start:
        environment_ = order.environment;
        return perform(machine_.start(now, order.deadline));
      case Order::Type::extend:
        return machine_.extend(order.deadline);
      case Order::Type::forward:
        return perform(machine_.forward(now, order.signal));
      case Order::Type::lose:
        return perform(machine_.lose(now));
    }
  }

  void perform(const ChildActions& actions) {
    using Type = ChildAction::Type;
    for (const ChildAction& action : actions) {
      switch (action.type) {
        case Type::spawn:
          spawn();
          break;
        case Type::signal_main:
          kill(main_, action.value);
          break;
        case Type::stop_tree:
          stop_tree(getpid(), main_);
          break;
        case Type::kill_tree:
          kill_tree(getpid(), main_);
          break;
        case Type::report_started:
          wrapper_.send(Report{Report::Type::started, main_});
          break;
        case Type::report_refused:
          wrapper_.send(Report{Report::Type::refused, action.value});
          break;
        case Type::report_late:
          wrapper_.send(Report{Report::Type::late, 0});
          break;
        case Type::report_lost:
          wrapper_.send(Report{Report::Type::lost, 0});
          break;
        case Type::report_exited:
          wrapper_.send(Report{Report::Type::exited, action.value});
          break;
        case Type::report_gone:
          wrapper_.send(Report{Report::Type::gone, 0});
          break;
        case Type::finish:
          break;
      }
    }
  }

  void spawn() {
    const SpawnResult result =
        spawn_command({plan_.command, environment_with(environment_, plan_.hidden_variables),
                       process_group_, plan_.started_mask, child_signal_ignored_});
    if (result.error != 0) {
      return perform(machine_.spawn_failed(result.error));
    }
    main_ = result.pid;
    drop_inherited();
    perform(machine_.spawned());
  }

  // The command has its copies now. Ours would keep a pipe open that the command has closed.
  void drop_inherited() const {
    auto inherited = open_descriptors();
    std::erase_if(inherited, [&](int number) {
      return number == children_.get() || number == timer_.get() || number == wrapper_.descriptor();
    });
    drop_inherited_descriptors(inherited);
    const Descriptor null{open("/dev/null", O_WRONLY | O_CLOEXEC)};
    dup3(null.get(), 2, O_CLOEXEC);
  }

  void reap() {
    while (!machine_.finished()) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid > 0 && pid == main_) {
        main_ = 0;
        perform(machine_.main_exited(status));
      } else if (pid < 0 && errno == ECHILD) {
        return perform(machine_.tree_gone());  // no effect before the start
      } else if (pid <= 0) {
        return;
      }
    }
  }

  const SupervisorPlan& plan_;
  pid_t process_group_;
  SupervisorLink wrapper_;
  ChildMachine machine_;
  Descriptor children_{};
  Descriptor timer_{};
  std::vector<std::string> environment_{};
  bool child_signal_ignored_ = false;
  pid_t main_ = 0;  // zero: not started yet, or reaped
};

}  // namespace

void run_supervisor(const SupervisorPlan& plan, pid_t process_group,
                    SupervisorLink wrapper) noexcept {
  {
    SupervisorProcess process{plan, process_group, std::move(wrapper)};
    process.run();
  }
  // No destructor, exit handler or buffer of the wrapper's copy may run twice.
  _exit(0);
}

}  // namespace holdfast::cli

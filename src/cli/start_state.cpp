#include "cli/start_state.hpp"

#include "cli/descriptor.hpp"

#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

// Those that a person or a service manager sends. PIPE and XFSZ would kill the wrapper for a broken
// stderr or a full quota, which are errors of a write, not reasons to leave the command alone.
constexpr std::array<int, 16> taken_signals{SIGHUP,  SIGINT,    SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                                            SIGALRM, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGWINCH,
                                            SIGURG,  SIGPIPE,   SIGXFSZ, SIGCHLD};

bool is_ignored(int signal) noexcept {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_IGN;
}

void take(int signal, sigset_t& taken) noexcept {
  if (signal == SIGCHLD || !is_ignored(signal)) {
    sigaddset(&taken, signal);
  }
}

void null_at(int target, int flags) noexcept {
  const Descriptor null{open("/dev/null", flags | O_CLOEXEC)};
  if (null && null.get() != target) {
    dup3(null.get(), target, O_CLOEXEC);
  }
}

}  // namespace

SignalPlan take_signals() {
  SignalPlan plan;
  sigemptyset(&plan.taken);
  for (const int signal : taken_signals) {
    take(signal, plan.taken);
  }
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
    take(signal, plan.taken);
  }
  sigprocmask(SIG_BLOCK, &plan.taken, &plan.started_mask);
  return plan;
}

void block_all_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
}

void fill_standard_descriptors() noexcept {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0) {
      // The lowest free number is this very one, since those below are open by now.
      const int opened = open("/dev/null", (descriptor == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
      if (opened > descriptor) {
        close(opened);
      }
    }
  }
}

std::vector<int> open_descriptors() {
  std::vector<int> found;
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) {
    return found;
  }
  while (const dirent* const entry = readdir(directory)) {
    int number = -1;
    const std::string_view name{std::data(entry->d_name)};
    const auto parsed = std::from_chars(name.begin(), name.end(), number);
    if (parsed.ptr == name.end() && number > 2 && number != dirfd(directory)) {
      found.push_back(number);
    }
  }
  closedir(directory);
  return found;
}

void drop_inherited_descriptors(const std::vector<int>& inherited) noexcept {
  null_at(0, O_RDONLY);
  null_at(1, O_WRONLY);
  for (const int descriptor : inherited) {
    close(descriptor);
  }
}

}  // namespace holdfast::cli

#include "cli/spawn.hpp"

#include "cli/descriptor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

// exec's signature is older than const: it writes to none of them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// Runs in the new process; returns errno.
int become_command(const SpawnPlan& plan, pid_t parent, char* const* arguments,
                   char* const* environment) noexcept {
  setpgid(0, plan.process_group);  // refused if the group is gone: then we are our own
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    kill(getpid(), SIGKILL);  // the supervisor died before the line above could matter
  }
  if (plan.child_signal_ignored) {
    static_cast<void>(signal(SIGCHLD, SIG_IGN));
  }
  sigprocmask(SIG_SETMASK, &plan.mask, nullptr);
  execvpe(arguments[0], arguments, environment);
  return errno;
}

}  // namespace

SpawnResult spawn_command(SpawnPlan plan) {
  const auto arguments = pointers_to(plan.arguments);
  const auto environment = pointers_to(plan.environment);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {0, errno};
  }
  const Descriptor reader{ends[0]};
  Descriptor writer{ends[1]};
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    return {0, errno};
  }
  if (child == 0) {
    const int error = become_command(plan, parent, arguments.data(), environment.data());
    [[maybe_unused]] const ssize_t written = write(writer.get(), &error, sizeof error);
    _exit(127);
  }
  writer.reset();
  int error = 0;
  ssize_t count = 0;
  do {  // the end of the pipe without a word means that exec has closed it: the command runs
    count = read(reader.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) {
    return {child, 0};
  }
  waitpid(child, nullptr, 0);
  return {0, error};
}

std::vector<std::string> environment_with(const std::vector<std::string>& added,
                                          const std::vector<std::string>& removed) {
  std::vector<std::string> result = added;
  const auto replaced = [&](std::string_view name) {
    return std::any_of(added.begin(), added.end(),
                       [&](const std::string& other) { return name_of(other) == name; }) ||
           std::find(removed.begin(), removed.end(), name) != removed.end();
  };
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!replaced(name_of(*variable))) {
      result.emplace_back(*variable);
    }
  }
  return result;
}

}  // namespace holdfast::cli

#include "tests/chaos/terminal.hpp"

#include "tests/support/eventually.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::test {

namespace {

[[noreturn]] void become(const ProcessOptions& options, const char* terminal) {
  setsid();
  const int screen = open(terminal, O_RDWR);
  ioctl(screen, TIOCSCTTY, 0);
  for (const int descriptor : {0, 1, 2}) {
    dup2(screen, descriptor);
  }
  close(screen);
  for (const auto& [name, value] : options.env) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  if (chdir(options.directory.c_str()) != 0) {
    _exit(127);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : options.args) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Terminal::Terminal(const ProcessOptions& options)
    : keyboard_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  std::array<char, 64> name{};
  if (keyboard_ < 0 || grantpt(keyboard_) != 0 || unlockpt(keyboard_) != 0 ||
      ptsname_r(keyboard_, name.data(), name.size()) != 0) {
    throw std::system_error(errno, std::generic_category(), "a terminal");
  }
  fcntl(keyboard_, F_SETFL, O_NONBLOCK);
  pid_ = fork();
  if (pid_ == 0) {
    become(options, name.data());
  }
}

Terminal::~Terminal() {
  if (!ended_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  hang_up();
}

void Terminal::hang_up() {
  if (keyboard_ >= 0) {
    close(std::exchange(keyboard_, -1));
  }
}

void Terminal::type(const std::string& keys) {
  if (write(keyboard_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
    throw std::system_error(errno, std::generic_category(), "typing");
  }
}

std::optional<int> Terminal::wait(std::chrono::nanoseconds patience) {
  eventually(
      [&] {
        std::array<char, 4096> buffer{};
        for (ssize_t count = 0; (count = read(keyboard_, buffer.data(), buffer.size())) > 0;) {
          shown_.append(buffer.data(), static_cast<std::size_t>(count));
        }
        int status = 0;
        if (!ended_ && waitpid(pid_, &status, WNOHANG) == pid_) {
          ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        return ended_.has_value();
      },
      patience);
  return ended_;
}

}  // namespace holdfast::test

#include "tests/support/process.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace holdfast::test {

namespace {

void require_zero(int number, const char* what) {
  if (number != 0) throw std::system_error(number, std::system_category(), what);
}

// An unnamed file: unlike a pipe it never makes the child wait for us to read.
int make_capture(const char* name) {
  const int descriptor = memfd_create(name, MFD_CLOEXEC);
  if (descriptor < 0) throw std::system_error(errno, std::system_category(), "memfd_create");
  return descriptor;
}

std::string content_of(int descriptor) {
  struct stat status {};
  fstat(descriptor, &status);
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t count = pread(descriptor, bytes.data(), bytes.size(), 0);
  bytes.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return bytes;
}

std::vector<std::string> environment(const ProcessOptions& options) {
  std::vector<std::string> result;
  const auto replaced = [&options](const std::string& key) {
    const auto same = [&key](const auto& pair) { return pair.first == key; };
    return std::any_of(options.env.begin(), options.env.end(), same) ||
           std::find(options.unset.begin(), options.unset.end(), key) != options.unset.end();
  };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!replaced(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [key, value] : options.env) result.push_back(key + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// posix_spawn's two option blocks, released together.
struct SpawnOptions {
  SpawnOptions() {
    require_zero(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
    require_zero(posix_spawnattr_init(&attributes), "posix_spawnattr_init");
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

}  // namespace

Process::Process(ProcessOptions options) : own_group_(options.own_group) {
  const int input = make_capture("stdin");
  out_ = make_capture("stdout");
  err_ = make_capture("stderr");
  if (pwrite(input, options.input.data(), options.input.size(), 0) < 0) {
    throw std::system_error(errno, std::system_category(), "pwrite");
  }
  SpawnOptions spawn;
  posix_spawn_file_actions_adddup2(&spawn.actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&spawn.actions, out_, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&spawn.actions, err_, STDERR_FILENO);
  if (!options.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&spawn.actions, options.directory.c_str());
  }
  if (own_group_) posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> env = environment(options);
  const int failure =
      posix_spawnp(&pid_, options.args.at(0).c_str(), &spawn.actions, &spawn.attributes,
                   pointers(options.args).data(), pointers(env).data());
  close(input);
  if (failure != 0) {
    close(out_);
    close(err_);
    throw std::system_error(failure, std::system_category(), options.args[0]);
  }
  handle_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (handle_ < 0) throw std::system_error(errno, std::system_category(), "pidfd_open");
}

Process::~Process() {
  if (own_group_) kill(-pid_, SIGKILL);
  signal(SIGKILL);
  wait();
  for (const int descriptor : {handle_, out_, err_}) close(descriptor);
}

void Process::signal(int number) noexcept {
  if (!ended_) kill(pid_, number);
}

bool Process::running() { return !wait(std::chrono::nanoseconds{0}); }

std::optional<int> Process::wait(std::chrono::nanoseconds patience) {
  if (ended_) return ended_;
  pollfd ready{handle_, POLLIN, 0};
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(patience);
  if (poll(&ready, 1, static_cast<int>(whole.count())) <= 0) return std::nullopt;
  int status = 0;
  waitpid(pid_, &status, 0);
  ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended_;
}

std::string Process::out() const { return content_of(out_); }

std::string Process::err() const { return content_of(err_); }

std::string run_tool(std::vector<std::string> args, const std::string& directory) {
  const std::string name = args.at(0);
  Process tool({.args = std::move(args), .directory = directory});
  if (tool.wait() != 0) throw std::runtime_error(name + " failed: " + tool.err() + tool.out());
  return tool.out();
}

bool is_in_path(const std::string& program) {
  const char* const value = std::getenv("PATH");
  std::string path = value == nullptr ? "" : value;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string file = path.substr(begin, end - begin) + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace holdfast::test

#include "cli/process_tree.hpp"

#include "cli/descriptor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

namespace holdfast::cli {

namespace {

std::optional<std::string> read_file(const std::string& path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) {
    return std::nullopt;
  }
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = read(file.get(), buffer.data(), buffer.size());
    if (count <= 0) {
      return count == 0 ? std::optional{std::move(text)} : std::nullopt;
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::optional<pid_t> parse_pid(std::string_view text) noexcept {
  pid_t pid = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return pid;
}

std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> numbers;
  DIR* const directory = opendir(path.c_str());
  if (directory == nullptr) {
    return numbers;
  }
  while (const dirent* const entry = readdir(directory)) {
    if (const auto number = parse_pid(std::data(entry->d_name))) {
      numbers.push_back(*number);
    }
  }
  closedir(directory);
  return numbers;
}

// Under `unshare --pid` without a new /proc, /proc/7 is a stranger.
bool proc_is_ours() {
  std::array<char, 32> buffer{};
  const ssize_t size = readlink("/proc/self", buffer.data(), buffer.size());
  return size > 0 &&
         parse_pid({buffer.data(), static_cast<std::size_t>(size)}) == std::optional{getpid()};
}

// The parent's pid from /proc/PID/stat; the name in parentheses may hold anything, so the fields
// are counted from the last parenthesis: ") S 42 ...".
std::optional<pid_t> parent_of(pid_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) {
    return std::nullopt;
  }
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= stat->size()) {
    return std::nullopt;
  }
  const std::size_t begin = name_end + 4;
  return parse_pid(std::string_view{*stat}.substr(begin, stat->find(' ', begin) - begin));
}

bool has_children_files() {
  static const bool known =
      access(("/proc/self/task/" + std::to_string(getpid()) + "/children").c_str(), R_OK) == 0;
  return known;
}

void append_children(pid_t pid, const std::set<pid_t>& spared, std::vector<pid_t>& found) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  for (const pid_t task : numbers_in(tasks)) {
    const auto list = read_file(tasks + std::to_string(task) + "/children");
    if (!list) {
      continue;
    }
    std::string_view rest = *list;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      const auto child = parse_pid(rest.substr(0, end));
      if (child && !spared.contains(*child)) {
        found.push_back(*child);
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

// For kernels without the children files: every process whose line of parents leads to `root`.
std::vector<pid_t> descendants_by_parent(pid_t root, const std::set<pid_t>& spared) {
  std::vector<std::pair<pid_t, pid_t>> parents;
  for (const pid_t pid : numbers_in("/proc")) {
    if (const auto parent = parent_of(pid)) {
      parents.emplace_back(pid, *parent);
    }
  }
  std::vector<pid_t> found;
  pid_t current = root;
  for (std::size_t next = 0;; current = found[next++]) {
    for (const auto& [pid, parent] : parents) {
      if (parent == current && !spared.contains(pid)) {
        found.push_back(pid);
      }
    }
    if (next == found.size()) {
      return found;
    }
  }
}

// Between the listing and the signal a process may have ended and its number may be a stranger's:
// the pidfd pins who is meant, and only then its parent is looked at.
void send(pid_t pid, const std::vector<int>& signals, pid_t root, const std::set<pid_t>& tree) {
  const Descriptor pinned{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
  const auto parent = parent_of(pid);
  if (!parent || (*parent != root && !tree.contains(*parent))) {
    return;
  }
  for (const int signal : signals) {
    // Old kernels and some sandboxes refuse pidfds; the number alone must do there.
    if (!pinned || (syscall(SYS_pidfd_send_signal, pinned.get(), signal, nullptr, 0) != 0 &&
                    errno == ENOSYS)) {
      ::kill(pid, signal);
    }
  }
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root, const std::set<pid_t>& spared) {
  if (!proc_is_ours()) {
    return {};
  }
  if (!has_children_files()) {
    return descendants_by_parent(root, spared);
  }
  std::vector<pid_t> found;
  append_children(root, spared, found);
  for (std::size_t next = 0; next < found.size(); ++next) {
    append_children(found[next], spared, found);
  }
  return found;
}

void stop_tree(pid_t root, pid_t main) {
  const auto found = descendants_of(root, {});
  const std::set<pid_t> tree{found.begin(), found.end()};
  for (const pid_t pid : found) {
    send(pid, {SIGTERM, SIGCONT}, root, tree);
  }
  if (main > 0 && !tree.contains(main)) {
    ::kill(main, SIGTERM);
    ::kill(main, SIGCONT);
  }
}

void kill_tree(pid_t root, pid_t main, const std::set<pid_t>& spared) {
  // A fork that began before its process was stopped shows up in the next listing. The bound only
  // guards against a listing that never settles; the caller comes back anyway.
  constexpr int listings_max = 1000;
  std::set<pid_t> stopped;
  for (int listing = 0; listing < listings_max; ++listing) {
    const std::size_t before = stopped.size();
    const auto found = descendants_of(root, spared);
    const std::set<pid_t> tree{found.begin(), found.end()};
    for (const pid_t pid : found) {
      if (stopped.insert(pid).second) {
        send(pid, {SIGSTOP}, root, tree);
      }
    }
    if (stopped.size() == before) {
      break;
    }
  }
  for (const pid_t pid : stopped) {
    send(pid, {SIGKILL}, root, stopped);
  }
  if (main > 0 && !stopped.contains(main)) {
    ::kill(main, SIGKILL);
  }
}

}  // namespace holdfast::cli

#include "cli/host_findings.hpp"

#include "cli/descriptor.hpp"
#include "client/default_store.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

using Level = Finding::Level;

Finding default_store(const std::string& store) {
  const char* const variable = std::getenv("HOLDFAST_STORE");
  if (variable != nullptr && *variable != '\0' && (store.empty() || store == variable)) {
    return {Level::good, "the store is the one that HOLDFAST_STORE names", ""};
  }
  if (!store.empty()) {
    return {Level::good, "the store was named with --store", ""};
  }
  return {Level::warning,
          "the default store " + default_store_file() + " locks for this user on this host only",
          "name a server with --store or HOLDFAST_STORE to lock across users or hosts"};
}

Finding process_view() {
  std::array<char, 32> buffer{};
  const ssize_t size = readlink("/proc/self", buffer.data(), buffer.size());
  if (size <= 0) {
    return {Level::warning, "/proc is not mounted",
            "mount it: without it, only the command's main process can be stopped in time"};
  }
  if (std::string_view{buffer.data(), static_cast<std::size_t>(size)} != std::to_string(getpid())) {
    return {Level::warning, "/proc shows the processes of another pid namespace",
            "use unshare --mount-proc: what a command leaves behind cannot be found"};
  }
  return {Level::good, "a command and all that it starts can be found and ended", ""};
}

Finding process_handles() {
  const Descriptor handle{static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0))};
  if (!handle) {
    return {Level::note, "this kernel or sandbox refuses pidfd_open",
            "nothing to do; processes are signalled by number, as everywhere before Linux 5.3"};
  }
  return {Level::good, "processes are signalled through pidfds", ""};
}

Finding descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t enough = 64;
  if (limit.rlim_cur < enough) {
    return {Level::warning, "only " + std::to_string(limit.rlim_cur) + " open files are allowed",
            "raise ulimit -n to 64 or more"};
  }
  return {Level::good, std::to_string(limit.rlim_cur) + " open files are allowed", ""};
}

}  // namespace

std::vector<Finding> host_findings(const std::string& store) {
  return {default_store(store), process_view(), process_handles(), descriptor_limit()};
}

}  // namespace holdfast::cli

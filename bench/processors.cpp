#include "bench/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace holdfast::bench {

namespace {

cpu_set_t all_at_start() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    throw std::system_error{errno, std::system_category(), "sched_getaffinity"};
  }
  return set;
}

const cpu_set_t at_start = all_at_start();

void bind_threads(pid_t process, const cpu_set_t& set) {
  const std::string tasks = "/proc/" + std::to_string(process == 0 ? getpid() : process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator{tasks}) {
    const pid_t thread = std::stoi(task.path().filename().string());
    if (sched_setaffinity(thread, sizeof set, &set) != 0) {
      throw std::system_error{errno, std::system_category(), "sched_setaffinity"};
    }
  }
}

}  // namespace

int processor_count() { return CPU_COUNT(&at_start); }

void pin(pid_t process, int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  int index = processor;
  for (int candidate = 0; candidate < CPU_SETSIZE; ++candidate) {
    if (CPU_ISSET(candidate, &at_start) && index-- == 0) {
      CPU_SET(candidate, &set);
      bind_threads(process, set);
      return;
    }
  }
  throw std::runtime_error{"there is no processor " + std::to_string(processor)};
}

void unpin() { bind_threads(0, at_start); }

}  // namespace holdfast::bench

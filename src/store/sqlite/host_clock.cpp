#include "store/sqlite/host_clock.hpp"

#include <holdfast/error.hpp>

#include <unistd.h>

#include <array>
#include <fstream>

namespace holdfast::sqlite {

namespace {

std::int64_t wall_clock_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

HostClock HostClock::of_this_process() {
  HostClock clock;
  clock.unix_us = wall_clock_us;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  if (!std::getline(file, clock.boot_id) || clock.boot_id.empty()) {
    throw Error(errc::storage_unsafe,
                "cannot read /proc/sys/kernel/random/boot_id, so leases from before a reboot "
                "could not be told from live ones; mount /proc");
  }
  std::array<char, 64> link{};
  const ssize_t size = readlink("/proc/self/ns/time", link.data(), link.size());
  if (size > 0) {
    clock.time_namespace.assign(link.data(), static_cast<std::size_t>(size));
  }
  return clock;
}

}  // namespace holdfast::sqlite

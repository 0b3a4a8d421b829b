#include <holdfast/types.hpp>

#include <ctime>

namespace holdfast {

BootClock::time_point BootClock::now() noexcept {
  timespec reading{};
  // Cannot fail: the clock exists on every Linux and the pointer is valid.
  clock_gettime(CLOCK_BOOTTIME, &reading);
  return time_point{std::chrono::seconds{reading.tv_sec} +
                    std::chrono::nanoseconds{reading.tv_nsec}};
}

}  // namespace holdfast

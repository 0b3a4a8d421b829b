// Loaded before libfaketime, which takes every absolute time of a timerfd for wall-clock time and
// moves it, also that of CLOCK_BOOTTIME, a clock that it leaves alone: those timers would never
// fire. The kernel's own call is what a clock step meets in the wild.
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

extern "C" int timerfd_settime(int descriptor, int flags, const itimerspec* value,
                               itimerspec* before) noexcept {
  return static_cast<int>(syscall(SYS_timerfd_settime, descriptor, flags, value, before));
}

// A number for the calling thread. Unlike std::thread::id it is not used again when a thread ends,
// until there were 2^32 threads; a lease may outlive the thread that took it.
#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast::detail {

inline constexpr std::uint32_t no_thread = 0;

inline std::uint32_t thread_number() noexcept {
  static std::atomic<std::uint32_t> last{no_thread};
  thread_local std::uint32_t ours = no_thread;
  while (ours == no_thread) {
    ours = ++last;
  }
  return ours;
}

}  // namespace holdfast::detail

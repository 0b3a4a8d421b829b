// A process on a terminal of its own, as its foreground job: what is typed there reaches it as it
// would from a keyboard, Ctrl-C included.
#pragma once

#include "tests/support/process.hpp"

#include <string>

#include <sys/types.h>

namespace holdfast::test {

class Terminal {
 public:
  explicit Terminal(const ProcessOptions& options);  // throws std::system_error
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  void type(const std::string& keys);
  void hang_up();  // as when the connection of a remote terminal is lost
  // The exit code as a shell tells it; none when it still runs at the deadline.
  std::optional<int> wait(std::chrono::nanoseconds patience);
  const std::string& shown() const noexcept { return shown_; }

 private:
  int keyboard_ = -1;
  pid_t pid_ = -1;
  std::optional<int> ended_{};
  std::string shown_{};
};

}  // namespace holdfast::test

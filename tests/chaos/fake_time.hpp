// Wall clocks that a test moves, by libfaketime. Only CLOCK_REALTIME: were the monotonic clock
// moved too, the test would prove nothing. Aborts under ASan: for plain builds.
#pragma once

#include "test_paths.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::chaos {

// Empty if it is not installed, or not usable in this build.
inline std::string fake_time_library() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return {};
#else
  for (const char* path : {"/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
                           "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
                           "/usr/lib/faketime/libfaketime.so.1"}) {
    if (std::filesystem::exists(path)) {
      return path;
    }
  }
  return {};
#endif
}

inline std::string fake_time_preload() {
  return std::string{HOLDFAST_REAL_TIMERS} + ":" + fake_time_library();
}

inline constexpr const char* no_fake_time =
    "there is no usable libfaketime (apt: faketime; never with sanitizers)";

// The wall clock of the processes that are started with env(): "+0", "+1h", "-2h".
class FakeClock {
 public:
  explicit FakeClock(std::filesystem::path file, const std::string& offset = "+0")
      : file_(std::move(file)) {
    set(offset);
  }
  void set(const std::string& offset) {
    const std::filesystem::path next = file_.string() + ".next";
    std::ofstream{next} << offset << std::endl;
    std::filesystem::rename(next, file_);  // a reader sees the old or the new one
  }
  std::vector<std::pair<std::string, std::string>> env() const {
    return {{"LD_PRELOAD", fake_time_preload()},
            {"FAKETIME_TIMESTAMP_FILE", file_.string()},
            {"FAKETIME_NO_CACHE", "1"},
            {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}};
  }

 private:
  std::filesystem::path file_;
};

}  // namespace holdfast::chaos

// Ends the process with `code` if what follows takes longer than `limit`. For the last steps of a
// command that somebody wants to be over, while a store does not answer.
#pragma once

#include <holdfast/types.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace holdfast::cli {

class ExitWithin {
 public:
  ExitWithin(Duration limit, int code)
      : timer_([this, limit, code](const std::stop_token& finished) {
          std::unique_lock lock{mutex_};
          never_.wait_for(lock, finished, limit, [] { return false; });
          if (!finished.stop_requested()) {
            _exit(code);
          }
        }) {}

 private:
  std::mutex mutex_{};
  std::condition_variable_any never_{};
  std::jthread timer_;  // last: it uses what is above, and is stopped and joined first
};

}  // namespace holdfast::cli

// Threads that hold or fight for a lock in the background of a case, and write the overlap log.
#pragma once

#include <holdfast/holdfast.hpp>

#include "tests/support/overlap_log.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <utility>

namespace holdfast::chaos {

// Wants the name all the time; holds it for `hold` whenever it gets it.
class Contender {
 public:
  Contender(Client& client, const std::string& name, LeaseOptions options, Duration hold,
            test::OverlapLog& log, std::string id = "B")
      : mutex_(client, name, std::move(options)),
        thread_([this, hold, &log, id = std::move(id)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            std::error_code ec;
            Lease lease = mutex_.acquire({.timeout = {}, .stop = stop}, ec);
            if (ec) {
              continue;
            }
            log.enter(id, to_int(lease.fence()));
            ++grants_;
            std::this_thread::sleep_for(hold);
            log.leave(id, to_int(lease.fence()));
            lease.release(ec);
          }
        }) {}

  int grants() const { return grants_; }
  void stop() { thread_ = {}; }

 private:
  std::atomic<int> grants_{0};
  Mutex mutex_;
  std::jthread thread_;
};

// Counts the losses of a lease, and writes the end of its interval when the first is told.
class LossLog {
 public:
  LossLog(const Lease& lease, test::OverlapLog& log, std::string id = "A")
      : fence_(to_int(lease.fence())),
        id_(std::move(id)),
        log_(log),
        on_lost_(lease.lost(), Told{this}) {
    log_.enter(id_, fence_);
  }

  int losses() const { return losses_; }
  Instant told_at() const { return told_at_; }  // meaningful if losses() > 0
  // The holder leaves by itself, before it releases.
  void leave() {
    if (losses_ == 0) {
      log_.leave(id_, fence_);
    }
  }

 private:
  struct Told {
    LossLog* log;
    void operator()() const {
      log->told_at_ = BootClock::now();
      ++log->losses_;
      log->log_.leave(log->id_, log->fence_);
    }
  };

  const std::int64_t fence_;
  const std::string id_;
  test::OverlapLog& log_;
  std::atomic<Instant> told_at_{};
  std::atomic<int> losses_{0};
  std::stop_callback<Told> on_lost_;
};

}  // namespace holdfast::chaos

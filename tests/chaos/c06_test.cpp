// C06: the user's own load, waiters and callbacks must not starve renewals. One core, eight
// spinning threads, four spinning processes, 64 blocked waiters, callbacks that sleep.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

// This thread, and those it starts while the object lives, run on one core only.
class OnOneCore {
 public:
  OnOneCore() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) {
        CPU_SET(cpu, &one);
        break;
      }
    }
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnOneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

 private:
  cpu_set_t before_{};
};

// A process that does nothing but use its core. Ends with this object, or with its parent.
class BusyProcess {
 public:
  BusyProcess() : pid_(fork()) {
    if (pid_ == 0) {
      for (volatile unsigned n = 0; getppid() != 1;) {
        n = n + 1;
      }
      _exit(0);
    }
  }
  ~BusyProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;

 private:
  pid_t pid_;
};

std::size_t threads_now() {
  std::size_t count = 0;
  if (DIR* tasks = opendir("/proc/self/task")) {
    while (readdir(tasks) != nullptr) {
      ++count;
    }
    closedir(tasks);
  }
  return count - 2;  // "." and ".."
}

// Every callback sleeps, until the case is over.
class Sleeper final : public Observer {
 public:
  void on_event(const Event& event) override {
    if (event.kind == Event::Kind::lost) {
      ++lost;
    }
    nap();
  }
  void nap() {
    const Instant end = BootClock::now() + 10s;
    while (!over && BootClock::now() < end) {
      std::this_thread::sleep_for(20ms);
    }
  }
  std::atomic<bool> over{false};
  std::atomic<int> lost{0};
};

class C06 : public OnEveryStore {
 protected:
  static constexpr int held_names = 200;
  static constexpr int blocked = 64;
  static constexpr LeaseOptions options{.ttl = 3s};

  // The largest distance between the sendings of two confirmed renewals of one lease: each moves
  // the end of trust by just that.
  static Duration largest_gap(const std::vector<Lease>& leases, Duration run);
};

Duration C06::largest_gap(const std::vector<Lease>& leases, Duration run) {
  std::vector<Instant> last;
  for (const Lease& lease : leases) {
    last.push_back(lease.trusted_until());
  }
  Duration largest{};
  const Instant end = BootClock::now() + run;
  while (BootClock::now() < end) {
    for (std::size_t i = 0; i < leases.size(); ++i) {
      const Instant until = leases[i].trusted_until();
      largest = std::max(largest, until - last[i]);
      last[i] = until;
    }
    std::this_thread::sleep_for(50ms);
  }
  return largest;
}

TEST_P(C06, OwnLoadStarvesNoRenewal) {
  const auto b = store().connect();
  Mutex theirs{*b, "busy", {.ttl = 30s}};
  const Lease held = theirs.acquire({.timeout = 5s});
  Sleeper sleeper;
  std::stop_source stop;
  std::size_t threads_before = 0;
  std::size_t threads_during = 0;
  Duration gap{};
  int lost = 0;
  {
    const OnOneCore pinned;
    const auto client = store().connect({.observer = &sleeper});
    std::vector<Lease> leases;
    for (int i = 0; i < held_names; ++i) {
      leases.push_back(Mutex{*client, "own" + std::to_string(i), options}.acquire({.timeout = 5s}));
    }
    threads_before = threads_now();
    std::vector<std::jthread> waiters;
    for (int i = 0; i < blocked; ++i) {
      waiters.emplace_back([&] {
        std::error_code ec;
        const Lease none = Mutex{*client, "busy", options}.acquire({.stop = stop.get_token()}, ec);
        EXPECT_EQ(ec, errc::cancelled);
      });
    }
    std::vector<std::jthread> spinning;
    for (int i = 0; i < 8; ++i) {
      spinning.emplace_back([](const std::stop_token& over) {
        while (!over.stop_requested()) {
        }
      });
    }
    const BusyProcess loops[4];
    gap = largest_gap(leases, short_or_full<Duration>(5s, 120s));
    threads_during = threads_now();
    for (const Lease& lease : leases) {
      lost += lease.valid() ? 0 : 1;
    }
    sleeper.over = true;
    stop.request_stop();
    spinning.clear();
    waiters.clear();
  }
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(sleeper.lost, 0);
  EXPECT_LT(gap, options.ttl * 2 / 3);
  // Callbacks may block up to 32 threads; the waiters are the user's own threads.
  EXPECT_LE(threads_during, threads_before + blocked + 8 + 32);
  figure("C06 ", GetParam(), ": largest_gap_ms=", ms(gap), " lost=", lost,
         " threads=", threads_during - blocked - 8);
}

// A callback that sleeps holds up neither the loss of another lock nor its callback.
TEST_P(C06, SleepingCallbacksDelayNoOtherLoss) {
  Sleeper sleeper;
  const auto client = store().connect({.observer = &sleeper});
  const auto other = store().connect();
  std::vector<std::unique_ptr<Mutex>> busy;
  std::vector<Lease> leases;
  for (int i = 0; i < 40; ++i) {  // more than there may be threads for callbacks
    Mutex mutex{*client, "own" + std::to_string(i), options};
    leases.push_back(mutex.acquire({.timeout = 5s}));
  }
  Mutex mutex{*client, "job", options};
  const Lease lease = mutex.acquire({.timeout = 5s});
  std::atomic<Instant> told{};
  const std::stop_callback on_lost{lease.lost(), [&] { told = BootClock::now(); }};
  std::this_thread::sleep_for(1500ms);  // each lease was renewed once: the observer is in bed
  const Instant broken = BootClock::now();
  static_cast<void>(other->break_name("job"));
  while (told.load() == Instant{} && BootClock::now() < broken + 5s) {
    std::this_thread::sleep_for(1ms);
  }
  const Duration took = told.load() - broken;
  sleeper.over = true;
  EXPECT_NE(told.load(), Instant{}) << "the loss was never told";
  EXPECT_LE(took, options.ttl / 3 + 250ms);
}

CASE_ON_EVERY_STORE(C06);

}  // namespace
}  // namespace holdfast::chaos

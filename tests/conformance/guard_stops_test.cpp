// C39 with real processes: the writer A is stopped (SIGSTOP) between asking the guard and writing,
// B takes over and writes, A continues.
#include "tests/conformance/guarded_ledger.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

namespace holdfast::guard_tests {
namespace {

using namespace std::chrono_literals;

constexpr const char* resource = "ledger";
constexpr const char* lock_name = "payout";

enum class Way {
  one_step,          // the guard checks as it writes
  check_then_write,  // what people do without: asks the guard, and writes when it said yes
};

// Process A. Reads a fence from `fences`, writes under it until it is refused, answers with a byte.
class StaleWriter {
 public:
  // `stops_itself`: after each check, as at a breakpoint. The storage must have no open ledger.
  StaleWriter(Storage& storage, Way way, bool stops_itself) {
    void* page =
        mmap(nullptr, sizeof *between_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || pipe(fences_) != 0 || pipe(answers_) != 0) std::abort();
    between_ = static_cast<std::atomic<bool>*>(page);
    pid_ = fork();
    if (pid_ == 0) {
      close(fences_[1]);
      write_until_stale(storage, way, stops_itself);
    }
    close(fences_[0]);
    close(answers_[1]);
  }
  ~StaleWriter() {
    go_on();
    close(fences_[1]);
    close(answers_[0]);
    waitpid(pid_, nullptr, 0);
    munmap(between_, sizeof *between_);
  }
  StaleWriter(const StaleWriter&) = delete;
  StaleWriter& operator=(const StaleWriter&) = delete;

  void begin(std::int64_t fence) const {
    if (write(fences_[1], &fence, sizeof fence) != sizeof fence) std::abort();
  }
  void stop() const {
    kill(pid_, SIGSTOP);
    wait_for_stop();
  }
  void wait_for_stop() const {
    int status = 0;
    waitpid(pid_, &status, WUNTRACED);
  }
  void go_on() const { kill(pid_, SIGCONT); }
  // 's': refused as stale. 'd': wrote what it had checked. Anything else is a failure.
  char answer() const {
    char byte = 0;
    return read(answers_[0], &byte, 1) == 1 ? byte : 0;
  }
  bool is_between() const { return between_->load(); }

 private:
  [[noreturn]] void write_until_stale(Storage& storage, Way way, bool stops_itself) const {
    const auto ledger = storage.open();
    std::int64_t fence = 0;
    while (read(fences_[0], &fence, sizeof fence) == sizeof fence) {
      const Stamp stamp{.name = lock_name, .fence = Fence{fence}};
      std::error_code ec;
      do {
        ec = ledger->admit(stamp, resource);
        between_->store(true);
        if (stops_itself && !ec) raise(SIGSTOP);
        std::this_thread::sleep_for(50us);  // it thinks; the other one needs a turn, too
        if (!ec && way == Way::one_step) ec = ledger->append(stamp, resource, 1);
        if (!ec && way == Way::check_then_write) ledger->append_unchecked(Fence{fence}, resource);
        between_->store(false);
        if (ec == errc::store_unavailable) ec.clear();  // the other one is writing: again
      } while (!ec && !stops_itself);
      const char byte = !ec ? 'd' : ec == errc::stale_fence ? 's' : '?';
      if (write(answers_[1], &byte, 1) != 1) break;
    }
    _exit(0);
  }

  std::atomic<bool>* between_ = nullptr;
  int fences_[2]{};
  int answers_[2]{};
  pid_t pid_ = -1;
};

// Rows that were written after one with a greater fence.
std::size_t stale_rows(const std::vector<std::int64_t>& rows) {
  std::size_t stale = 0;
  std::int64_t greatest = 0;
  for (const std::int64_t fence : rows) {
    stale += fence < greatest ? 1 : 0;
    greatest = std::max(greatest, fence);
  }
  return stale;
}

TEST_P(C39Stops, AWriterThatStoppedBetweenCheckAndWriteIsRefused) {
  ledger.reset();  // no connection may be open across a fork
  const StaleWriter writer{*storage, Way::one_step, true};
  ledger = storage->open();
  for (std::int64_t round = 0; round < 20; ++round) {
    writer.begin(2 * round + 1);
    writer.wait_for_stop();
    ASSERT_FALSE(append(2 * round + 2, resource));
    writer.go_on();
    ASSERT_EQ(writer.answer(), 's');
  }
  EXPECT_EQ(stale_rows(ledger->rows(resource)), 0U);
  EXPECT_EQ(ledger->rows(resource).size(), 20U);
}

// What the guard is for: the same without it lets every single stale write through. If this
// failed, the test above would show nothing.
TEST_P(C39Stops, CheckThenWriteLetsEveryStaleWriteThrough) {
  ledger.reset();
  const StaleWriter writer{*storage, Way::check_then_write, true};
  ledger = storage->open();
  for (std::int64_t round = 0; round < 20; ++round) {
    writer.begin(2 * round + 1);
    writer.wait_for_stop();
    ASSERT_FALSE(append(2 * round + 2, resource));
    writer.go_on();
    ASSERT_EQ(writer.answer(), 'd');
  }
  EXPECT_EQ(stale_rows(ledger->rows(resource)), 20U);
}

TEST_P(C39Stops, NoStaleWriteLandsWhereverTheWriterIsStopped) {
  const bool full = std::getenv("HOLDFAST_SOAK") != nullptr;
  // The short form takes what fits in two seconds of a busy machine.
  const int rounds_max = full ? 20'000 : 300;
  const Instant enough = BootClock::now() + (full ? 1h : 2s);
  ledger.reset();
  const StaleWriter writer{*storage, Way::one_step, false};
  ledger = storage->open();
  std::mt19937 random{std::random_device{}()};
  int rounds = 0;
  int between = 0;
  int inside = 0;
  Duration stopped{};
  for (; rounds < rounds_max && BootClock::now() < enough; ++rounds) {
    const std::int64_t old_fence = 2 * std::int64_t{rounds} + 1;
    writer.begin(old_fence);
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 400});
    writer.stop();
    const Instant since = BootClock::now();
    between += writer.is_between() ? 1 : 0;
    // Stopped inside a transaction it keeps us out: let it go on and stop it again, each time
    // later, for on a slow disk its commit takes a while and each of our tries waits for it.
    std::error_code ec = append(old_fence + 1, resource);
    for (unsigned longest = 100; ec == errc::store_unavailable; longest *= 2) {
      ++inside;
      writer.go_on();
      std::this_thread::sleep_for(std::chrono::microseconds{random() % longest});
      writer.stop();
      ec = append(old_fence + 1, resource);
    }
    ASSERT_FALSE(ec) << ec.message();
    if (full) {
      std::this_thread::sleep_until(std::chrono::steady_clock::now() +
                                    std::chrono::microseconds{1000 + random() % 29'000});
    }
    stopped += BootClock::now() - since;
    writer.go_on();
    ASSERT_EQ(writer.answer(), 's') << "the writer was stopped by something else";
  }
  const std::vector<std::int64_t> rows = ledger->rows(resource);
  EXPECT_EQ(stale_rows(rows), 0U);
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](auto fence) { return fence % 2 == 0; }),
            rounds);
  std::cout << "[ figure ] C39 " << GetParam().name << ": stops=" << rounds
            << " mean_ms=" << std::chrono::duration<double, std::milli>(stopped).count() / rounds
            << " between_check_and_write=" << between << " inside_a_transaction=" << inside
            << " writes=" << rows.size() << " stale=" << stale_rows(rows) << std::endl;
  EXPECT_GT(rounds, 10);
}

}  // namespace
}  // namespace holdfast::guard_tests

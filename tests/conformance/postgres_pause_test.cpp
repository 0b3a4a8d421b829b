// C39: the stale writer is stopped between its token check and its write, and the server between
// two writers. The same writer without a guard shows what the guard is for.
#include "tests/conformance/postgres_user.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <random>
#include <thread>

namespace holdfast::postgres_tests {
namespace {

using namespace std::chrono_literals;

bool soak() { return std::getenv("HOLDFAST_SOAK") != nullptr; }

// What the two processes share: who holds the lock, and what the writer is at.
struct Board {
  std::atomic<std::int64_t> holder{0};
  std::atomic<bool> between{false};  // after its token check, before it knows of its commit
};

class SharedBoard {
 public:
  SharedBoard()
      : memory_(mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                     0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("mmap");
  }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  ~SharedBoard() { munmap(memory_, sizeof(Board)); }
  Board* operator->() const { return static_cast<Board*>(memory_); }  // zeroes are a valid Board

 private:
  void* memory_;
};

// What a program does between its token check and its write.
void compute(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Writes under each fence that it is told, as long as it thinks that it holds the lock. Answers 's'
// when the guard refused it, 'l' when it saw by itself that the lock is lost.
void write_under_fences(const std::string& url, const SharedBoard& board, bool guarded, int fences,
                        int answers) {
  PgUser own{url};
  std::int64_t fence = 0;
  while (read(fences, &fence, sizeof fence) == sizeof fence) {
    std::error_code ec;
    while (!ec && board->holder == fence) {  // the token check
      board->between = true;
      compute(300us);
      own.must("BEGIN");
      if (guarded) ec = own.admit("ledger", "payout", fence);
      if (!ec) own.must("INSERT INTO ledger(fence) VALUES(" + std::to_string(fence) + ")");
      own.must(ec ? "ROLLBACK" : "COMMIT");
      board->between = false;
    }
    board->between = false;
    const char answer = ec == errc::stale_fence ? 's' : ec ? '?' : 'l';
    if (write(answers, &answer, 1) != 1) break;
  }
}

// The writer as a process that can be stopped at any instruction.
class Writer {
 public:
  Writer(const std::string& url, const SharedBoard& board, bool guarded) {
    if (pipe(fences_) != 0 || pipe(answers_) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
      close(fences_[1]);
      try {
        write_under_fences(url, board, guarded, fences_[0], answers_[1]);
      } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
      }
      _exit(0);
    }
    close(fences_[0]);
    close(answers_[1]);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    close(fences_[1]);
    close(answers_[0]);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  void start(std::int64_t fence) {
    if (write(fences_[1], &fence, sizeof fence) != sizeof fence) throw std::runtime_error("write");
  }
  void stop() {
    kill(pid_, SIGSTOP);
    int status = 0;
    waitpid(pid_, &status, WUNTRACED);
  }
  void go_on() { kill(pid_, SIGCONT); }
  char answer() {
    char answer = 0;
    return read(answers_[0], &answer, 1) == 1 ? answer : '-';
  }

 private:
  int fences_[2]{};
  int answers_[2]{};
  pid_t pid_ = -1;
};

struct Tally {
  int rounds = 0;
  int between = 0;  // stops after the token check, before the end of the write
  int inside = 0;   // of them, with the mark locked: B had to wait
  int refused = 0;
  int stale_rows = 0;
};

struct C39PostgresPause : testing::Test {
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
    url = PostgresServer::shared().new_database();
    PgUser user{url};
    user.must("CREATE TABLE ledger(id bigserial PRIMARY KEY, fence bigint)");
    user.must("CREATE INDEX ON ledger(fence)");
    PostgresGuard{user.session()}.install();
  }

  // B's write, while A is stopped. How many rows of A were there.
  int take_over(PgUser& user, Writer& writer, std::int64_t old_fence, bool guarded, Tally& tally) {
    bool waited = false;
    for (;;) {
      user.must("BEGIN");
      if (!guarded || !user.admit("ledger", "payout", old_fence + 1)) break;
      // A was stopped while it holds the mark: no write of B until A has gone a little further.
      user.must("ROLLBACK");
      waited = true;
      writer.go_on();
      std::this_thread::sleep_for(std::chrono::microseconds{random() % 300});
      writer.stop();
    }
    tally.inside += waited ? 1 : 0;
    user.must("INSERT INTO ledger(fence) VALUES(" + std::to_string(old_fence + 1) + ")");
    const int seen = count(user, old_fence);
    user.must("COMMIT");
    return seen;
  }

  static int count(PgUser& user, std::int64_t fence) {
    return std::stoi(
        user.one("SELECT count(*) FROM ledger WHERE fence = " + std::to_string(fence)));
  }

  Tally race(bool guarded, int wanted, std::chrono::milliseconds pause_max,
             std::chrono::nanoseconds enough) {
    const SharedBoard board;
    Writer writer{url, board, guarded};
    PgUser user{url};
    user.must("SET lock_timeout = '3ms'");
    const auto end = std::chrono::steady_clock::now() + enough;
    Tally tally;
    while (tally.between < wanted && std::chrono::steady_clock::now() < end) {
      const std::int64_t old_fence = 2 * tally.rounds + 1;
      board->holder = old_fence;
      writer.start(old_fence);
      std::this_thread::sleep_for(std::chrono::microseconds{random() % 1000});
      writer.stop();
      board->holder = old_fence + 1;  // A's lease ends while it is stopped
      tally.between += board->between ? 1 : 0;
      const int seen = take_over(user, writer, old_fence, guarded, tally);
      const auto spread = static_cast<unsigned>(pause_max / 1us - 1000);
      std::this_thread::sleep_for(1ms + std::chrono::microseconds{random() % spread});
      writer.go_on();
      const char answer = writer.answer();
      if (answer != 's' && answer != 'l') throw std::runtime_error("the writer failed");
      tally.refused += answer == 's' ? 1 : 0;
      tally.stale_rows += count(user, old_fence) - seen;
      ++tally.rounds;
    }
    return tally;
  }

  std::string url{};
  std::mt19937 random{1};
};

TEST_F(C39PostgresPause, NoStaleWriteLandsWhereverTheWriterIsStopped) {
  const int wanted = soak() ? 20'000 : 300;
  const auto pause_max = soak() ? 30ms : 3ms;
  const Tally tally = race(true, wanted, pause_max, soak() ? 3600s : 3s);
  std::cout << "[ figure ] C39 postgres: " << tally.rounds << " stops of 1-" << pause_max.count()
            << " ms, " << tally.between << " between token check and commit, " << tally.inside
            << " while A held the mark, " << tally.refused << " refused, " << tally.stale_rows
            << " stale rows\n";
  EXPECT_EQ(tally.stale_rows, 0);
  EXPECT_GT(tally.refused, 5);
  EXPECT_GT(tally.inside, 0);
  if (soak()) {
    EXPECT_EQ(tally.between, wanted);
  }
}

TEST_F(C39PostgresPause, WithoutAGuardTheyLand) {
  const Tally tally = race(false, soak() ? 2'000 : 100, 3ms, soak() ? 600s : 2s);
  std::cout << "[ figure ] C39 postgres without a guard: " << tally.rounds << " stops, "
            << tally.stale_rows << " stale rows\n";
  EXPECT_GT(tally.stale_rows, 0) << "then the test above shows nothing";
}

TEST(C39PostgresRestart, TheMarkSurvivesRestartAndCrash) {
  HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
  PostgresServer server;
  {
    PgUser user{server.url()};
    PostgresGuard{user.session()}.install();
    EXPECT_FALSE(user.admitted("ledger", 7));
  }
  server.restart();
  {
    PgUser user{server.url()};
    PostgresGuard{user.session()}.install();  // a second time changes nothing
    EXPECT_EQ(user.admitted("ledger", 6), errc::stale_fence);
    EXPECT_FALSE(user.admitted("ledger", 8));
  }
  server.crash();
  server.start();
  PgUser user{server.url()};
  EXPECT_EQ(user.admitted("ledger", 7), errc::stale_fence);
}

TEST(C39PostgresRestart, AServerThatIsGoneIsNoRefusal) {
  HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
  PostgresServer server;
  PgUser user{server.url()};
  PostgresGuard{user.session()}.install();
  user.must("BEGIN");
  server.crash();
  EXPECT_EQ(user.admit("ledger", "payout", 7), errc::store_unavailable) << user.error();
  EXPECT_EQ(user.admit("ledger", "payout", 7), errc::invalid_options) << "nothing is open any more";
}

}  // namespace
}  // namespace holdfast::postgres_tests

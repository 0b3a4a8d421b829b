// C33: many processes on one lock file, killed at random. Short form; HOLDFAST_SOAK=1 runs it for a
// minute with 40 processes.
#include "tests/conformance/sqlite_fixture.hpp"

#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <iostream>
#include <memory>
#include <random>
#include <thread>

namespace holdfast::sqlite_tests {
namespace {

constexpr int names = 5;
constexpr Duration ttl = 400ms;
constexpr Duration margin = 100ms;

// What all processes see: who believes to be inside, and what went wrong.
struct Board {
  struct Inside {
    std::atomic<std::int64_t> fence{0};          // of the last who went in
    std::atomic<std::int64_t> trusted_until{0};  // of who is inside; zero: nobody
  };
  std::array<Inside, names> inside{};
  std::atomic<int> overlaps{0};
  std::atomic<int> fences_not_rising{0};
  std::atomic<int> failures{0};
  std::atomic<int> grants{0};
  std::atomic<int> hand_offs{0};
};

class SharedBoard {
 public:
  SharedBoard() {
    void* memory =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    board_ = std::construct_at(static_cast<Board*>(memory));
  }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  ~SharedBoard() { munmap(board_, sizeof(Board)); }
  Board* operator->() { return board_; }
  Board& operator*() { return *board_; }

 private:
  Board* board_;
};

std::int64_t ticks(Instant at) { return at.time_since_epoch().count(); }

class Worker {
 public:
  Worker(const std::string& path, Board& board, std::uint64_t seed)
      : asker_(factory_of(path), true), board_(board), random_(seed) {
    asker_.listen();
  }

  void work_until(Instant end) {
    while (BootClock::now() < end) {
      Claim mine = claim("name", 1, ttl);
      mine.name += std::to_string(random_() % names);
      for (auto& byte : mine.owner.bytes) byte = static_cast<std::uint8_t>(random_());
      one_attempt(mine, random_() % 2 == 0);
    }
  }

 private:
  void one_attempt(const Claim& mine, bool waits) {
    asker_.events.clear();
    const Instant give_up = BootClock::now() + 600ms;
    for (;;) {
      const Instant sent = BootClock::now();
      const auto reply = asker_.acquire(mine, waits ? Store::Queueing::yes : Store::Queueing::no);
      if (std::holds_alternative<Granted>(reply)) {
        hold(mine, std::get<Granted>(reply).fence, sent);
        return;
      }
      if (const auto* failed = std::get_if<Failed>(&reply)) {
        std::cerr << failed->detail << '\n';
        ++board_.failures;
      }
      if (!waits || BootClock::now() > give_up) break;
      if (asker_.run_until([&] { return !asker_.events.empty(); }, 100ms)) ++board_.hand_offs;
      asker_.events.clear();
    }
    asker_.withdraw(mine, {.tombstone = true});
  }

  void hold(const Claim& mine, Fence fence, Instant sent) {
    Board::Inside& inside = board_.inside[static_cast<std::size_t>(mine.name.back() - '0')];
    const std::int64_t now = ticks(BootClock::now());
    const std::int64_t trusted = ticks(sent + ttl - margin);
    if (now >= trusted) return;  // answered too late to be trusted: left to its TTL
    if (inside.trusted_until.exchange(trusted) > now) ++board_.overlaps;
    if (inside.fence.exchange(to_int(fence)) >= to_int(fence)) ++board_.fences_not_rising;
    ++board_.grants;
    std::this_thread::sleep_for(std::chrono::milliseconds{random_() % 30});
    const Instant renewed_at = BootClock::now();
    if (random_() % 2 == 0 && std::holds_alternative<Renewed>(asker_.renew(mine))) {
      inside.trusted_until = ticks(renewed_at + ttl - margin);
      std::this_thread::sleep_for(std::chrono::milliseconds{random_() % 20});
    }
    std::int64_t own = ticks(renewed_at + ttl - margin);
    if (!inside.trusted_until.compare_exchange_strong(own, 0)) {
      own = trusted;
      inside.trusted_until.compare_exchange_strong(own, 0);
    }
    asker_.withdraw(mine, {.keep_min_hold = true});
  }

  Asker asker_;
  Board& board_;
  std::mt19937_64 random_;
};

pid_t start_worker(const std::string& path, Board& board, std::uint64_t seed, Instant end) {
  const pid_t pid = fork();
  if (pid == 0) {
    Worker(path, board, seed).work_until(end);
    _exit(0);
  }
  return pid;
}

std::string one(sqlite3* db, const char* sql) {
  std::string value;
  sqlite3_exec(
      db, sql,
      [](void* out, int, char** columns, char**) {
        *static_cast<std::string*>(out) = columns[0] != nullptr ? columns[0] : "NULL";
        return 0;
      },
      &value, nullptr);
  return value;
}

// Reads like `holdfast ls` and disturbs like an operator, until the end.
pid_t start_operator(const std::string& path, Instant end) {
  const pid_t pid = fork();
  if (pid == 0) {
    Asker asker{factory_of(path)};
    sqlite3* db = nullptr;
    sqlite3_open(path.c_str(), &db);
    for (int i = 0; BootClock::now() < end; ++i) {
      asker.list("");
      one(db, i % 2 == 0 ? "PRAGMA wal_checkpoint(TRUNCATE)" : "VACUUM");
      std::this_thread::sleep_for(100ms);
    }
    _exit(0);
  }
  return pid;
}

TEST(C33SqliteHammer, ManyProcessesKilledAtRandom) {
  const bool full = std::getenv("HOLDFAST_SOAK") != nullptr;
  const std::size_t processes = full ? 40 : 8;
  // The short form in memory, where most happens in the time; the full form on a disk.
  const std::string in_memory = "/dev/shm";
  const TempDir dir{full ? std::filesystem::temp_directory_path().string() : in_memory};
  const std::string path = dir / "locks.db";
  SharedBoard board;
  const Instant end = BootClock::now() + (full ? 60s : 3s);
  std::mt19937_64 random{7};
  std::vector<pid_t> workers;
  for (std::size_t i = 0; i < processes; ++i) {
    workers.push_back(start_worker(path, *board, random(), end));
  }
  const pid_t meddler = start_operator(path, end);
  int killed = 0;
  while (BootClock::now() < end - 500ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds{full ? 50 : 150});
    pid_t& victim = workers[random() % workers.size()];
    kill(victim, SIGKILL);
    waitpid(victim, nullptr, 0);
    ++killed;
    victim = start_worker(path, *board, random(), end);
  }
  int status = 0;
  for (const pid_t worker : workers) {
    waitpid(worker, &status, 0);
    EXPECT_EQ(status, 0);
  }
  waitpid(meddler, &status, 0);
  EXPECT_EQ(status, 0);
  std::cout << board->grants << " grants, " << board->hand_offs << " by hand-off, " << killed
            << " processes killed\n";
  EXPECT_EQ(board->overlaps, 0);
  EXPECT_EQ(board->fences_not_rising, 0);
  EXPECT_EQ(board->failures, 0) << "no busy file may reach a caller";
  EXPECT_GT(board->grants, full ? 2000 : 50);

  // Nothing is held for longer than a TTL after the last kill.
  Asker after{factory_of(path)};
  after.let_pass(ttl + 1s);
  for (int i = 0; i < names; ++i) {
    expect<Granted>(after.acquire(claim("name" + std::to_string(i), 1)));
  }
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  EXPECT_EQ(one(db, "PRAGMA integrity_check"), "ok");
  sqlite3_close(db);
}

TEST(C33SqliteHammer, FortyProcessesMakeOneFileAtOnce) {
  for (int round = 0; round < 3; ++round) {
    TempDir dir;  // on a disk, where it takes longest
    const std::string path = dir / "locks.db";
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 40; ++i) {
      children.push_back(fork());
      if (children.back() == 0) {
        close(gate[1]);
        char byte = 0;
        if (read(gate[0], &byte, 1) != 0) _exit(9);  // all start when the gate is closed
        Asker asker{factory_of(path, "?op_timeout=20s")};
        const auto reply = asker.acquire(claim("one", static_cast<std::uint8_t>(i + 1), 60s));
        if (const auto* failed = std::get_if<Failed>(&reply)) std::cerr << failed->detail << '\n';
        _exit(std::holds_alternative<Granted>(reply)
                  ? 1
                  : (std::holds_alternative<Busy>(reply) ? 2 : 3));
      }
    }
    close(gate[0]);
    close(gate[1]);
    std::array<int, 10> ends{};
    for (const pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      ++ends.at(static_cast<std::size_t>(WIFEXITED(status) ? WEXITSTATUS(status) : 0));
    }
    EXPECT_EQ(ends[1], 1) << "granted";
    EXPECT_EQ(ends[2], 39) << "busy";
  }
}

}  // namespace
}  // namespace holdfast::sqlite_tests

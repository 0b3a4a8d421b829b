#include "bench/benchmarks.hpp"
#include "bench/series.hpp"

#include "tests/support/redis_server.hpp"
#include "tests/support/temp_dir.hpp"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::bench {

namespace {

// Runs a command to its end. Returns the peak resident size in KiB of it and its children.
long run(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));  // posix_spawn's signature; not written to
  }
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    throw std::runtime_error{"cannot start " + arguments[0]};
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error{arguments[0] + " failed"};
  }
  return usage.ru_maxrss;
}

Row run_row(const Series& ours, const Series& floor, long resident_kib) {
  Row made = row(ours, floor);
  const double over = ours.quantile(0.5) - floor.quantile(0.5);
  made.note = "over true: " + std::to_string(over / 1000).substr(0, 4) + " ms (goal 5), resident " +
              std::to_string(resident_kib / 1024) + " MiB (goal 16)";
  return made;
}

}  // namespace

std::vector<Table> bench_run(const Options& options) {
  const test::TempDir folder;
  test::RedisServer redis;
  const std::string command = options.command.string();
  const std::string sqlite = "sqlite://" + (folder.path() / "locks.db").string();

  Series floor{"true"};
  Series on_sqlite{"holdfast run x -- true, SQLite"};
  Series on_redis{"holdfast run x -- true, Redis"};
  long sqlite_kib = 0;
  long redis_kib = 0;
  const auto bare = [&] { run({"true"}); };
  const auto with_sqlite = [&] {
    sqlite_kib = std::max(sqlite_kib, run({command, "run", "--store", sqlite, "x", "--", "true"}));
  };
  const auto with_redis = [&] {
    redis_kib =
        std::max(redis_kib, run({command, "run", "--store", redis.url(), "x", "--", "true"}));
  };
  with_sqlite();  // makes the file
  alternate(options.blocks, 5, std::pair<Series&, decltype(bare)>{floor, bare},
            std::pair<Series&, decltype(with_sqlite)>{on_sqlite, with_sqlite},
            std::pair<Series&, decltype(with_redis)>{on_redis, with_redis});
  return {{.title = "A command under a lock: holdfast run x -- true",
           .how = std::to_string(floor.size()) + " runs each, in turns; not pinned",
           .rows = {floor_row(floor), run_row(on_sqlite, floor, sqlite_kib),
                    run_row(on_redis, floor, redis_kib)}}};
}

}  // namespace holdfast::bench

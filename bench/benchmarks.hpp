// The benchmarks by name. Each starts what it needs, on loopback and in a temporary folder, and
// measures beside its floor in the same run.
#pragma once

#include "bench/report.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::bench {

struct Options {
  int blocks = 40;                  // contenders take turns this often
  int block_size = 100;             // operations of one contender in a turn
  int leases = 100'000;             // held at once by `leases`
  int hold_seconds = 120;           // for as long as this
  std::filesystem::path command{};  // the holdfast command, for `run`
};

std::vector<Table> bench_redis(const Options& options);    // acquire + release over bare hiredis
std::vector<Table> bench_sqlite(const Options& options);   // acquire + release over bare sqlite3
std::vector<Table> bench_waiting(const Options& options);  // hand-off to waiters over a bare wake
std::vector<Table> bench_leases(const Options& options);   // what many held leases cost
std::vector<Table> bench_stores(const Options& options);   // PostgreSQL over bare libpq
std::vector<Table> bench_postgres(const Options& options);
std::vector<Table> bench_guard(const Options& options);  // a guarded write over the same write
std::vector<Table> bench_run(const Options& options);    // holdfast run x -- true over true

}  // namespace holdfast::bench

// holdfast_bench: holdfast beside its floor, in one run. See docs/reference/benchmarks.md.
#include "bench/benchmarks.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::bench {

namespace {

using Benchmark = std::function<std::vector<Table>(const Options&)>;

const std::vector<std::pair<std::string, Benchmark>> benchmarks{
    {"redis", bench_redis},   {"sqlite", bench_sqlite},
#ifdef HOLDFAST_WITH_POSTGRES
    {"guard", bench_guard},
#endif
    {"run", bench_run},       {"waiting", bench_waiting},
    {"leases", bench_leases}, {"stores", bench_stores}};

int measure(const std::vector<std::string>& wanted, const Options& options, bool json) {
  std::vector<Table> tables;
  for (const auto& [name, benchmark] : benchmarks) {
    if (wanted.empty() || std::ranges::find(wanted, name) != wanted.end()) {
      std::fprintf(stderr, "measuring %s ...\n", name.c_str());
      for (Table& table : benchmark(options)) {
        tables.push_back(std::move(table));
      }
    }
  }
  print(tables, json);
  return 0;
}

}  // namespace

}  // namespace holdfast::bench

int main(int argc, char** argv) try {
  CLI::App app{"holdfast beside its floor, in one run"};
  std::vector<std::string> wanted;
  bool json = false;
  holdfast::bench::Options options;
  options.command = std::filesystem::path{argv[0]}.parent_path() / "holdfast";
  app.add_option("benchmark", wanted,
                 "redis, sqlite, guard, run, waiting, leases, stores (default: all)")
      ->check(CLI::IsMember({"redis", "sqlite", "guard", "run", "waiting", "leases", "stores"}));
  app.add_flag("--json", json, "one JSON array on standard output");
  app.add_option("--blocks", options.blocks, "how often the contenders take turns")
      ->check(CLI::Range(1, 10000));
  app.add_option("--block-size", options.block_size, "operations in a turn")
      ->check(CLI::Range(1, 100000));
  app.add_option("--leases", options.leases, "how many leases are held at once, for `leases`")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--hold-seconds", options.hold_seconds, "for how long, for `leases`")
      ->check(CLI::Range(1, 3600));
  app.add_option("--command", options.command, "the holdfast command to measure");
  CLI11_PARSE(app, argc, argv);
  return holdfast::bench::measure(wanted, options, json);
} catch (const std::exception& error) {
  std::fprintf(stderr, "holdfast_bench: %s\n", error.what());
  return 1;
}

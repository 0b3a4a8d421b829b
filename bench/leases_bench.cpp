// Many leases held by one process: what the renewals cost.
#include "bench/benchmarks.hpp"

#include <holdfast/holdfast.hpp>

#include "tests/support/redis_server.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::bench {

namespace {

using std::chrono::seconds;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

int threads() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    if (word == "Threads:") {
      int count = 0;
      status >> count;
      return count;
    }
  }
  return 0;
}

std::string fixed(double value, int digits) {
  std::string text = std::to_string(value);
  return text.substr(0, text.find('.') + static_cast<std::size_t>(digits) + 1);
}

Table held_leases(const Options& options) {
  constexpr Duration ttl = seconds{30};
  test::RedisServer server;
  Client client{server.url()};
  Mutex{client, "warm-up"}.acquire().release();

  std::vector<Lease> leases;
  leases.reserve(static_cast<std::size_t>(options.leases));
  const std::size_t heap_before = heap_bytes();
  for (int i = 0; i < options.leases; ++i) {
    leases.push_back(Mutex{client, "order-" + std::to_string(i), {.ttl = ttl}}.acquire());
  }
  std::fprintf(stderr, "  %d leases held; watching them for %d s ...\n", options.leases,
               options.hold_seconds + 12);
  std::this_thread::sleep_for(seconds{12});  // every lease has been renewed once by then
  malloc_trim(0);
  const double each = static_cast<double>(heap_bytes() - heap_before) / options.leases;

  const double cpu_before = cpu_seconds();
  const std::int64_t calls_before = server.calls("evalsha");
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(seconds{options.hold_seconds});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double cpu = 100 * (cpu_seconds() - cpu_before) / took.count();
  const double rate = static_cast<double>(server.calls("evalsha") - calls_before) / took.count();
  const double rate_goal = options.leases / (100 * 10.0) * 1.2;  // renewed every TTL/3 = 10 s

  const Counters counters = client.counters();
  std::size_t invalid = 0;
  for (const Lease& lease : leases) {
    invalid += lease.valid() ? 0U : 1U;
  }
  Table table{.title = "Redis: " + std::to_string(options.leases) + " leases held by one process",
              .how = "TTL 30 s, " + fixed(took.count(), 0) + " s, " + std::to_string(threads()) +
                     " threads of the process in all"};
  table.figures = {
      {"leases lost or not trusted any more", std::to_string(counters.lost + invalid), "0"},
      {"processor, % of one core", fixed(cpu, 2), "5"},
      {"heap for each lease, bytes", fixed(each, 0), "512"},
      {"scripts a second", fixed(rate, 1), fixed(rate_goal, 0)}};
  return table;
}

}  // namespace

std::vector<Table> bench_leases(const Options& options) { return {held_leases(options)}; }

}  // namespace holdfast::bench

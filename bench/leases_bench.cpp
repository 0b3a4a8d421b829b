// Many leases held by one process: what the renewals cost.
#include "bench/benchmarks.hpp"
#include "bench/usage.hpp"

#include <holdfast/holdfast.hpp>

#include "tests/support/redis_server.hpp"

#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::bench {

namespace {

using std::chrono::seconds;

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

  const double cpu_before = processor_seconds();
  const std::int64_t calls_before = server.calls("evalsha");
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(seconds{options.hold_seconds});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double cpu = 100 * (processor_seconds() - cpu_before) / took.count();
  const double rate = static_cast<double>(server.calls("evalsha") - calls_before) / took.count();
  const double rate_goal = options.leases / (100 * 10.0) * 1.2;  // renewed every TTL/3 = 10 s

  const Counters counters = client.counters();
  std::size_t invalid = 0;
  for (const Lease& lease : leases) {
    invalid += lease.valid() ? 0U : 1U;
  }
  Table table{.title = "Redis: " + std::to_string(options.leases) + " leases held by one process",
              .how = "TTL 30 s, " + decimal(took.count(), 0) + " s, " +
                     std::to_string(thread_count()) + " threads of the process in all"};
  table.figures = {
      {"leases lost or not trusted any more", std::to_string(counters.lost + invalid), "0"},
      {"processor, % of one core", decimal(cpu, 2), "5"},
      {"heap for each lease, bytes", decimal(each, 0), "512"},
      {"scripts a second", decimal(rate, 1), decimal(rate_goal, 0)}};
  return table;
}

}  // namespace

std::vector<Table> bench_leases(const Options& options) { return {held_leases(options)}; }

}  // namespace holdfast::bench

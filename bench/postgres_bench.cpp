#include "bench/benchmarks.hpp"
#include "bench/series.hpp"

#include <holdfast/holdfast.hpp>

#include "tests/support/postgres_server.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace holdfast::bench {

namespace {

// libpq as its manual shows it: blocking, one statement after the other.
class BarePostgres {
 public:
  explicit BarePostgres(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
      throw std::runtime_error{PQerrorMessage(connection_.get())};
    }
  }

  void run(const char* sql) {
    const std::unique_ptr<PGresult, Clear> result(PQexec(connection_.get(), sql));
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      throw std::runtime_error{PQerrorMessage(connection_.get())};
    }
  }

  void await_notification() {
    for (;;) {
      PQconsumeInput(connection_.get());
      if (PGnotify* const notify = PQnotifies(connection_.get())) {
        PQfreemem(notify);
        return;
      }
      pollfd readable{PQsocket(connection_.get()), POLLIN, 0};
      poll(&readable, 1, -1);
    }
  }

 private:
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };
  struct Clear {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
  };
  std::unique_ptr<PGconn, Finish> connection_;
};

constexpr const char* our_acquire =
    "SELECT * FROM holdfast.lock_acquire(ROW('bare', '0123456789abcdef0123456789abcdef', 'c', 0, 1,"
    "0, 30000000, 5000000, 0, 0, 0, '', '', 'host', 1, '')::holdfast.lock_claim, false)";
constexpr const char* our_release =
    "SELECT * FROM holdfast.lock_withdraw('bare', '0123456789abcdef0123456789abcdef', 0, false, '',"
    "0)";
constexpr const char* plain_take =
    "INSERT INTO plain VALUES('x', 'me', 1) ON CONFLICT (name) DO UPDATE SET owner = 'me', "
    "fence = plain.fence + 1 WHERE plain.owner IS NULL RETURNING fence";
constexpr const char* plain_give = "UPDATE plain SET owner = NULL WHERE name = 'x'";

Table acquire_and_release(const std::string& url, const Options& options) {
  Client client{url};
  Mutex mutex{client, "x"};
  mutex.acquire().release();  // installs the functions
  BarePostgres bare{url};
  bare.run("CREATE TABLE plain(name text PRIMARY KEY, owner text, fence bigint)");
  Series same{"bare libpq, the same two statements"};
  Series plain{"bare libpq, a row taken and given back, no more"};
  Series ours{"holdfast, acquire + release with fence"};
  const auto same_cycle = [&] { bare.run(our_acquire), bare.run(our_release); };
  const auto plain_cycle = [&] { bare.run(plain_take), bare.run(plain_give); };
  const auto our_cycle = [&] { mutex.acquire().release(); };
  const auto measure = [&](int blocks, int size) {
    alternate(blocks, size, std::pair<Series&, decltype(same_cycle)>{same, same_cycle},
              std::pair<Series&, decltype(plain_cycle)>{plain, plain_cycle},
              std::pair<Series&, decltype(our_cycle)>{ours, our_cycle});
  };
  measure(3, 20);
  same = Series{same.name()};
  plain = Series{plain.name()};
  ours = Series{ours.name()};
  measure(options.blocks, options.block_size / 4 + 1);
  return {.title = "PostgreSQL, mode=lease: acquire + release, two durable commits",
          .how = std::to_string(same.size()) + " cycles each, in turns; not pinned",
          .rows = {floor_row(same), row(ours, same, 1.2), row(plain, same)}};
}

// From the release to the moment at which the waiter has the lock.
Table hand_off(const std::string& url, const Options& options) {
  Series wake{"bare libpq: row deleted, NOTIFY, listener awake"};
  Series ours{"holdfast: release, waiter holds the lease"};
  BarePostgres teller{url};
  BarePostgres listener{url};
  listener.run("LISTEN wake");
  teller.run("CREATE TABLE gone(x int)");
  Client a{url};
  Client b{url};
  Mutex first{a, "h"};
  Mutex second{b, "h"};
  const int rounds = options.blocks * 5;
  for (int i = 0; i < rounds; ++i) {
    teller.run("INSERT INTO gone VALUES(1)");
    wake.time([&] {
      teller.run("WITH d AS (DELETE FROM gone) SELECT pg_notify('wake', 'granted')");
      listener.await_notification();
    });
    Lease held = first.acquire();
    std::atomic<std::chrono::steady_clock::time_point> entered{};
    std::jthread waiter([&] {
      Lease next = second.acquire();
      entered = std::chrono::steady_clock::now();
      next.release();
    });
    while (b.inspect("h").waiters.empty()) {
      std::this_thread::yield();
    }
    const auto from = std::chrono::steady_clock::now();
    held.release();
    waiter.join();
    ours.add(std::chrono::duration<double, std::micro>(entered.load() - from).count());
  }
  return {.title = "PostgreSQL, mode=lease: hand-off to a waiter",
          .how = std::to_string(rounds) + " hand-offs each, in turns; not pinned",
          .rows = {floor_row(wake), row(ours, wake, 1.5)}};
}

}  // namespace

std::vector<Table> bench_postgres(const Options& options) {
  test::PostgresServer server{{.durable = true}};
  return {acquire_and_release(server.new_database(), options),
          hand_off(server.new_database(), options)};
}

}  // namespace holdfast::bench

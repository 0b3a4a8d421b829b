// What a guard costs: the same write in the same transaction with and without it.
#include "bench/benchmarks.hpp"
#include "bench/processors.hpp"
#include "bench/series.hpp"

#include <holdfast/guard/libpq.hpp>

#include "tests/support/postgres_server.hpp"

#include <libpq-fe.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace holdfast::bench {

namespace {

using test::PostgresServer;

class Writer {
 public:
  explicit Writer(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
      throw std::runtime_error{PQerrorMessage(connection_.get())};
    }
    guard_.install();
    run("CREATE TABLE IF NOT EXISTS ledger(id bigserial PRIMARY KEY, orders bigint, fence bigint)");
    run("CREATE TABLE IF NOT EXISTS job(id int PRIMARY KEY, state int, fence bigint NOT NULL) "
        "WITH (fillfactor = 50)");
    run("INSERT INTO job VALUES(1, 0, 0) ON CONFLICT DO NOTHING");
  }

  void bare() {
    run("BEGIN");
    insert();
    run("COMMIT");
  }
  void resource_guard() {
    run("BEGIN");
    guard_.admit("ledger", "payout", Fence{7});
    insert();
    run("COMMIT");
  }
  void once_guard() {
    const std::string key = std::to_string(++number_);
    run("BEGIN");
    once_.take(key, Fence{7});
    insert();
    once_.keep(key, "paid");
    run("COMMIT");
  }
  void bare_row() { run("UPDATE job SET state = state + 1, fence = $1 WHERE id = 1", ++number_); }
  void row_guard() {
    ++number_;
    const int changed =
        run("UPDATE job SET state = state + 1, fence = $1 WHERE id = 1 AND fence < $1", number_);
    check_row_write(session_, changed, {.table = "job", .key_column = "id", .key = 1},
                    Fence{number_});
  }
  void set(const std::string& setting) { run("SET " + setting); }

 private:
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };

  int run(const std::string& sql) { return finish(PQexec(connection_.get(), sql.c_str())); }
  int run(const std::string& sql, std::int64_t parameter) {
    const std::string text = std::to_string(parameter);
    const char* const value = text.c_str();
    return finish(
        PQexecParams(connection_.get(), sql.c_str(), 1, nullptr, &value, nullptr, nullptr, 0));
  }
  int finish(PGresult* result) {
    const bool worked = PQresultStatus(result) == PGRES_COMMAND_OK;
    const int changed = std::atoi(PQcmdTuples(result));
    PQclear(result);
    if (!worked) {
      throw std::runtime_error{PQerrorMessage(connection_.get())};
    }
    return changed;
  }
  void insert() { run("INSERT INTO ledger(orders, fence) VALUES($1, 7)", ++number_); }

  std::unique_ptr<PGconn, Finish> connection_;
  PqSession session_{connection_.get()};
  PostgresGuard guard_{session_};
  PostgresOnce once_{session_};
  std::int64_t number_ = 0;
};

Table compare(Writer& writer, const Options& options, bool durable) {
  writer.set(std::string{"synchronous_commit = "} + (durable ? "on" : "off"));
  Series floor{"BEGIN, INSERT, COMMIT"};
  Series resource{"the same with the resource guard"};
  Series once{"the same with the once guard"};
  Series row_floor{"UPDATE of one row"};
  Series row_guard{"the same with the row guard"};
  const auto take_turns = [&](int blocks, int size) {
    const auto bare = [&] { writer.bare(); };
    const auto guarded = [&] { writer.resource_guard(); };
    const auto one_time = [&] { writer.once_guard(); };
    const auto bare_row = [&] { writer.bare_row(); };
    const auto guarded_row = [&] { writer.row_guard(); };
    alternate(blocks, size, std::pair<Series&, decltype(bare)>{floor, bare},
              std::pair<Series&, decltype(guarded)>{resource, guarded},
              std::pair<Series&, decltype(one_time)>{once, one_time},
              std::pair<Series&, decltype(bare_row)>{row_floor, bare_row},
              std::pair<Series&, decltype(guarded_row)>{row_guard, guarded_row});
  };
  take_turns(2, 20);  // warms caches; not counted
  for (Series* const series : {&floor, &resource, &once, &row_floor, &row_guard}) {
    *series = Series{series->name()};
  }
  take_turns(options.blocks, options.block_size / 4 + 1);
  const std::optional<double> goal = durable ? std::optional{1.25} : std::nullopt;
  return {.title = durable ? "PostgreSQL guards, commits that wait for the disk"
                           : "PostgreSQL guards, synchronous_commit=off",
          .how = std::to_string(floor.size()) +
                 " transactions each, in turns; client and server on different cores",
          .rows = {floor_row(floor), row(resource, floor, goal), row(once, floor),
                   floor_row(row_floor), row(row_guard, row_floor, goal)}};
}

}  // namespace

std::vector<Table> bench_guard(const Options& options) {
  if (!PostgresServer::installed()) {
    throw std::runtime_error{PostgresServer::how_to_install};
  }
  const PostgresServer server{{.durable = true}};
  if (processor_count() > 1) {
    pin(server.pid(), 1);  // its sessions inherit that
    pin(0, 0);
  }
  Writer writer{server.url()};
  std::vector<Table> tables{compare(writer, options, true), compare(writer, options, false)};
  unpin();
  return tables;
}

}  // namespace holdfast::bench

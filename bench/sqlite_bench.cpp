#include "bench/benchmarks.hpp"
#include "bench/series.hpp"

#include <holdfast/holdfast.hpp>

#include "tests/support/temp_dir.hpp"

#include <sqlite3.h>

#include <stdexcept>
#include <string>

namespace holdfast::bench {

namespace {

// What the floor does for one lock: a row taken and a row given back, one durable commit each.
class BareSqlite {
 public:
  explicit BareSqlite(const std::string& path) {
    require(sqlite3_open(path.c_str(), &database_));
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=FULL");
    run("CREATE TABLE lock(name TEXT PRIMARY KEY, owner TEXT, fence INTEGER, until INTEGER)");
    require(sqlite3_prepare_v2(
        database_,
        "INSERT INTO lock VALUES('x', hex(randomblob(16)), 1, 1) ON CONFLICT(name) DO UPDATE "
        "SET owner = excluded.owner, fence = fence + 1, until = 1 WHERE owner IS NULL "
        "RETURNING fence",
        -1, &take_, nullptr));
    require(sqlite3_prepare_v2(database_, "UPDATE lock SET owner = NULL WHERE name = 'x'", -1,
                               &give_back_, nullptr));
  }
  BareSqlite(const BareSqlite&) = delete;
  BareSqlite& operator=(const BareSqlite&) = delete;
  ~BareSqlite() {
    sqlite3_finalize(take_);
    sqlite3_finalize(give_back_);
    sqlite3_close(database_);
  }

  void cycle() {
    step(take_);
    step(give_back_);
  }

 private:
  void require(int code) const {
    if (code != SQLITE_OK) {
      throw std::runtime_error{sqlite3_errmsg(database_)};
    }
  }
  void step(sqlite3_stmt* statement) const {
    run("BEGIN IMMEDIATE");
    int code = SQLITE_ROW;
    while (code == SQLITE_ROW) {
      code = sqlite3_step(statement);
    }
    require(code == SQLITE_DONE ? SQLITE_OK : code);
    require(sqlite3_reset(statement));
    run("COMMIT");
  }
  void run(const char* sql) const {
    require(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr));
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* take_ = nullptr;
  sqlite3_stmt* give_back_ = nullptr;
};

}  // namespace

std::vector<Table> bench_sqlite(const Options& options) {
  const test::TempDir folder;
  BareSqlite bare{folder.path() / "bare.db"};
  Client client{"sqlite://" + (folder.path() / "locks.db").string()};
  Mutex mutex{client, "x"};

  Series floor{"bare sqlite3, the same two commits"};
  Series ours{"holdfast, acquire + release with fence"};
  const auto bare_cycle = [&] { bare.cycle(); };
  const auto our_cycle = [&] { mutex.acquire().release(); };
  alternate(3, 20, std::pair<Series&, decltype(bare_cycle)>{floor, bare_cycle},
            std::pair<Series&, decltype(our_cycle)>{ours, our_cycle});
  floor = Series{floor.name()};
  ours = Series{ours.name()};
  alternate(options.blocks, options.block_size / 4 + 1,
            std::pair<Series&, decltype(bare_cycle)>{floor, bare_cycle},
            std::pair<Series&, decltype(our_cycle)>{ours, our_cycle});
  return {{.title = "SQLite: acquire + release, WAL, synchronous=FULL",
           .how = std::to_string(floor.size()) + " cycles each, in turns; not pinned",
           .rows = {floor_row(floor), row(ours, floor, 1.2)}}};
}

}  // namespace holdfast::bench

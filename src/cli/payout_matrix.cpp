#include "cli/payout_matrix.hpp"

#include "base/percent.hpp"
#include "cli/exit_code.hpp"
#include "cli/payout_run.hpp"
#include "cli/table.hpp"
#include "cli/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include <unistd.h>

namespace holdfast::cli {

namespace {

struct Cell {
  PayoutWay way{};
  PayoutFault fault{};
  int runs = 0;  // 0: it cannot be tried, or there is nothing to try
  std::int64_t unpaid = 0;
  std::int64_t double_payouts = 0;
  std::int64_t refused = 0;
};

bool kept(const Cell& cell) {
  return cell.unpaid == 0 && (cell.double_payouts == 0 || !guarded_by_database(cell.way));
}

class Matrix {
 public:
  explicit Matrix(const MatrixOptions& options) : options_(options) {
    plan_.store = options.store.empty()
                      ? "sqlite://" + percent_encode(folder_.path(), "/") + "/locks.db"
                      : options.store;
    plan_.database = options.database;
    plan_.orders = options.orders;
    plan_.workers = options.workers;
    if (RedisProcess::installed()) {
      pair_ = std::make_unique<RedisPair>(folder_.path());
    }
  }

  int play() {
    for (const PayoutWay way : payout_ways) {
      for (const PayoutFault fault : payout_faults) {
        progress(way, fault);
        cells_.push_back(try_cell(way, fault));
      }
    }
    options_.json ? print_json() : print_text();
    return std::ranges::all_of(cells_, kept) ? exit_ok : exit_failed;
  }

 private:
  Cell try_cell(PayoutWay way, PayoutFault fault) {
    Cell cell{.way = way, .fault = fault};
    const bool impossible = fault == PayoutFault::failover && !pair_;
    if (impossible || (needs_lock(fault) && !uses_lock(way))) {
      return cell;
    }
    for (int i = 0; i < options_.runs; ++i) {
      PayoutPlan plan = plan_;
      plan.schema = "holdfast_demo_" + std::to_string(getpid()) + "_" + std::to_string(++played_);
      plan.lock_name = plan.schema;
      plan.way = way;
      plan.fault = fault;
      const PayoutResult result = play_payout_run(plan, pair_.get());
      ++cell.runs;
      cell.unpaid += plan.orders - result.paid;
      cell.double_payouts += result.double_payouts;
      cell.refused += result.refused;
    }
    return cell;
  }

  void progress(PayoutWay way, PayoutFault fault) const {
    if (!options_.json) {
      std::cerr << "  " << cells_.size() + 1 << " of " << payout_ways.size() * payout_faults.size()
                << ": " << text_of(way) << ", " << text_of(fault) << " ...\n";
    }
  }

  static std::string text_of_cell(const Cell& cell) {
    if (cell.runs == 0) {
      return "-";
    }
    std::string text = std::to_string(cell.double_payouts);
    if (cell.unpaid != 0) {
      text += " (" + std::to_string(cell.unpaid) + " not paid)";
    }
    return text;
  }

  void print_text() const {
    std::cout << "Orders paid twice, of " << options_.orders << " in each of " << options_.runs
              << (options_.runs == 1 ? " run" : " runs") << " with " << options_.workers
              << " processes:\n\n";
    std::vector<std::vector<std::string>> rows{{"  way to be safe"}};
    for (const PayoutFault fault : payout_faults) {
      rows[0].emplace_back(text_of(fault));
    }
    for (const Cell& cell : cells_) {
      if (cell.fault == payout_faults.front()) {
        rows.push_back({std::string{"  "} + text_of(cell.way)});
      }
      rows.back().push_back(text_of_cell(cell));
    }
    std::cout << table_text(rows)
              << "\nA lock keeps processes from colliding; only the database can refuse a write "
                 "that comes too late.\n";
    if (!pair_) {
      std::cout << "Failover was not tried: there is no redis-server here (apt: redis-server).\n";
    }
  }

  void print_json() const {
    nlohmann::ordered_json cells = nlohmann::ordered_json::array();
    for (const Cell& cell : cells_) {
      nlohmann::ordered_json one{{"way", text_of(cell.way)},
                                 {"fault", text_of(cell.fault)},
                                 {"guarded", guarded_by_database(cell.way)},
                                 {"runs", cell.runs}};
      if (cell.runs != 0) {
        one["double_payouts"] = cell.double_payouts;
        one["unpaid"] = cell.unpaid;
        one["refused"] = cell.refused;
      }
      cells.push_back(std::move(one));
    }
    std::cout << nlohmann::ordered_json{{"orders", options_.orders},
                                        {"workers", options_.workers},
                                        {"cells", std::move(cells)}}
                     .dump()
              << '\n';
  }

  const MatrixOptions& options_;
  TemporaryFolder folder_{};
  PayoutPlan plan_{};
  std::unique_ptr<RedisPair> pair_{};
  std::vector<Cell> cells_{};
  int played_ = 0;
};

}  // namespace

int play_payout_matrix(const MatrixOptions& options) { return Matrix{options}.play(); }

}  // namespace holdfast::cli

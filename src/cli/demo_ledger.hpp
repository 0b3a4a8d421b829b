// The storage that the demo protects: orders, and the payouts that were made for them. A payout is
// an instruction to a bank: nothing in the table keeps it from being given twice, as nothing does
// in the world that it stands for. Only a guard does.
#pragma once

#include <holdfast/types.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace holdfast::cli {

class DemoLedger {
 public:
  // Makes the file with `orders` unpaid orders and the guard's table.
  static void create(const std::string& path, std::int64_t orders);

  explicit DemoLedger(const std::string& path);  // throws Error{store_unavailable}

  std::vector<std::int64_t> unpaid(std::int64_t limit_to) const;

  // Writes one payout for each order, in one transaction. With `guarded`, the guard checks the
  // fence in that very transaction. False: refused as stale, and nothing was written.
  bool pay(const std::vector<std::int64_t>& orders, const std::string& lock_name, Fence fence,
           bool guarded);

  struct Totals {
    std::int64_t paid = 0;            // orders with a payout
    std::int64_t double_payouts = 0;  // payouts beyond the first of an order
  };
  Totals totals() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };

  void execute(const std::string& sql);
  void write_payouts(const std::vector<std::int64_t>& orders, Fence fence);

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace holdfast::cli

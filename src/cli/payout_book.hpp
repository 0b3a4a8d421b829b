// The orders and payouts of `holdfast demo payout --matrix`, in PostgreSQL, and the ways to keep a
// payout from being made twice. A payout is an instruction to a bank: but for the guard that is
// being tried, nothing keeps the table from holding it twice, as nothing does in the world.
#pragma once

#include <holdfast/guard/postgres_session.hpp>
#include <holdfast/types.hpp>

#include "cli/payout_case.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::cli {

class PayoutBook {
 public:
  // `schema` is made by create(); all that the session does before is its own affair.
  PayoutBook(PostgresSession& session, std::string schema, std::string lock_name, PayoutWay way);

  // Makes the schema with `orders` open orders. Installs the guards. Throws Error.
  void create(std::int64_t orders);
  void drop();

  struct Order {
    std::int64_t id = 0;
    std::int64_t version = 0;
  };
  // What a new holder does first: shuts its predecessors out, if this way can. False: stale.
  bool begin(Fence fence);
  // The next open orders. Opens the transaction that pay() commits where the way needs that.
  std::vector<Order> read(std::int64_t limit);

  enum class Paid : std::uint8_t { all, some, stale };
  // Pays the orders that were read; `half_way` is called between a payout and its mark.
  Paid pay(const std::vector<Order>& orders, Fence fence, const std::function<void()>& half_way);

  struct Totals {
    std::int64_t paid = 0;            // orders with a payout
    std::int64_t double_payouts = 0;  // payouts beyond the first of an order
  };
  Totals totals();

 private:
  using Row = PostgresAnswer::Row;

  std::vector<Row> run(const std::string& sql, const Row& parameters = {});
  void begin_transaction();
  bool admit(Fence fence);
  void pay_bank(const Order& order, Fence fence);
  bool pay_one(const Order& order, Fence fence, const std::function<void()>& half_way);
  bool take(const Order& order, Fence fence);

  PostgresSession& session_;
  std::string schema_;
  std::string resource_;
  std::string lock_name_;
  PayoutWay way_;
};

}  // namespace holdfast::cli

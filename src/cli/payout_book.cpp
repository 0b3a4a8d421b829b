#include "cli/payout_book.hpp"

#include <holdfast/error.hpp>
#include <holdfast/guard/postgres.hpp>

#include <utility>

namespace holdfast::cli {

namespace {

std::int64_t number(const std::optional<std::string>& field) {
  return field ? std::stoll(*field) : 0;
}

}  // namespace

PayoutBook::PayoutBook(PostgresSession& session, std::string schema, std::string lock_name,
                       PayoutWay way)
    : session_(session),
      schema_(std::move(schema)),
      resource_("holdfast demo " + schema_),
      lock_name_(std::move(lock_name)),
      way_(way) {}

std::vector<PayoutBook::Row> PayoutBook::run(const std::string& sql, const Row& parameters) {
  PostgresAnswer answer = session_.run(sql, parameters);
  if (answer.failed) {
    throw Error{errc::store_unavailable, answer.message};
  }
  return std::move(answer.rows);
}

void PayoutBook::create(std::int64_t orders) {
  PostgresGuard{session_}.install();
  run("CREATE SCHEMA " + schema_);
  run("CREATE TABLE " + schema_ +
      ".orders (order_id bigint PRIMARY KEY, paid boolean NOT NULL DEFAULT false,"
      " fence bigint NOT NULL DEFAULT 0, version bigint NOT NULL DEFAULT 0)");
  run("CREATE TABLE " + schema_ + ".payout (order_id bigint NOT NULL, fence bigint NOT NULL)");
  if (way_ == PayoutWay::unique_key) {
    run("ALTER TABLE " + schema_ + ".payout ADD UNIQUE (order_id)");
  }
  run("INSERT INTO " + schema_ + ".orders(order_id) SELECT generate_series(1, $1::bigint)",
      {std::to_string(orders)});
}

void PayoutBook::drop() {
  run("SET client_min_messages = warning");  // it would list what it drops
  run("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  // Ours to forget if this role installed the guards; otherwise the mark of a demo stays.
  session_.run("DELETE FROM holdfast.guard_mark WHERE resource = $1", {resource_});
}

void PayoutBook::begin_transaction() { run("BEGIN"); }

bool PayoutBook::admit(Fence fence) {
  std::error_code code;
  PostgresGuard{session_}.admit(resource_, lock_name_, fence, Fence::none, code);
  if (code == errc::stale_fence) {
    run("ROLLBACK");
    return false;
  }
  if (code) {
    throw Error{code, "the guard could not be asked"};
  }
  return true;
}

// Without this a predecessor could still write between our first read and our first write, both of
// which would then pay the same orders.
bool PayoutBook::begin(Fence fence) {
  if (way_ != PayoutWay::admit) {
    return true;
  }
  begin_transaction();
  if (!admit(fence)) {
    return false;
  }
  run("COMMIT");
  return true;
}

std::vector<PayoutBook::Order> PayoutBook::read(std::int64_t limit) {
  std::string sql = "SELECT order_id, version FROM " + schema_ +
                    ".orders WHERE NOT paid ORDER BY order_id LIMIT $1::bigint";
  if (way_ == PayoutWay::skip_locked) {
    begin_transaction();
    sql += " FOR UPDATE SKIP LOCKED";
  }
  std::vector<Order> orders;
  for (const Row& row : run(sql, {std::to_string(limit)})) {
    orders.push_back({number(row.at(0)), number(row.at(1))});
  }
  if (orders.empty() && way_ == PayoutWay::skip_locked) {
    run("COMMIT");
  }
  return orders;
}

void PayoutBook::pay_bank(const Order& order, Fence fence) {
  run("INSERT INTO " + schema_ + ".payout(order_id, fence) VALUES ($1::bigint, $2::bigint)",
      {std::to_string(order.id), std::to_string(to_int(fence))});
}

// Marks the order as paid if this way lets us. False: somebody else was here first.
bool PayoutBook::take(const Order& order, Fence fence) {
  const std::string update = "UPDATE " + schema_ + ".orders SET paid = true";
  const std::string id = std::to_string(order.id);
  switch (way_) {
    case PayoutWay::row_fence:
      return !run(update +
                      ", fence = $2::bigint WHERE order_id = $1::bigint AND fence < $2::bigint"
                      " AND NOT paid RETURNING 1",
                  {id, std::to_string(to_int(fence))})
                  .empty();
    case PayoutWay::version:
      return !run(update +
                      ", version = version + 1 WHERE order_id = $1::bigint AND version = "
                      "$2::bigint RETURNING 1",
                  {id, std::to_string(order.version)})
                  .empty();
    case PayoutWay::unique_key:
      if (run("INSERT INTO " + schema_ +
                  ".payout(order_id, fence) VALUES ($1::bigint, $2::bigint)"
                  " ON CONFLICT (order_id) DO NOTHING RETURNING 1",
              {id, std::to_string(to_int(fence))})
              .empty()) {
        return false;
      }
      [[fallthrough]];
    case PayoutWay::none:
    case PayoutWay::admit:
    case PayoutWay::skip_locked:
      run(update + " WHERE order_id = $1::bigint", {id});
      return true;
  }
  return false;
}

bool PayoutBook::pay_one(const Order& order, Fence fence, const std::function<void()>& half_way) {
  if (way_ == PayoutWay::none) {
    pay_bank(order, fence);  // by hand and without a transaction: the bank first, then our own mark
    half_way();
    return take(order, fence);
  }
  if (!take(order, fence)) {
    return false;
  }
  half_way();
  if (way_ != PayoutWay::unique_key) {
    pay_bank(order, fence);
  }
  return true;
}

PayoutBook::Paid PayoutBook::pay(const std::vector<Order>& orders, Fence fence,
                                 const std::function<void()>& half_way) {
  const bool in_transaction = way_ != PayoutWay::none;
  if (in_transaction && way_ != PayoutWay::skip_locked) {
    begin_transaction();
  }
  if (way_ == PayoutWay::admit && !admit(fence)) {
    return Paid::stale;
  }
  bool all = true;
  for (const Order& order : orders) {
    all = pay_one(order, fence, half_way) && all;
  }
  if (in_transaction) {
    run("COMMIT");
  }
  return all ? Paid::all : Paid::some;
}

PayoutBook::Totals PayoutBook::totals() {
  const auto rows =
      run("SELECT count(DISTINCT order_id), count(*) - count(DISTINCT order_id) FROM " + schema_ +
          ".payout");
  return {number(rows.at(0).at(0)), number(rows.at(0).at(1))};
}

}  // namespace holdfast::cli

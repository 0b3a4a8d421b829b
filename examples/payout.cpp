// Six instances of this wake up at once; one of them pays the pending orders. If it stalls past its
// lease and comes back, PostgreSQL refuses its write, and its run ends.
//
//   CREATE TABLE orders(order_id bigint PRIMARY KEY, amount numeric NOT NULL,
//                       paid boolean NOT NULL DEFAULT false, fence bigint NOT NULL DEFAULT 0);
//   CREATE TABLE payout(order_id bigint NOT NULL, amount numeric NOT NULL);
//
//   example_payout postgres://app@db/shop redis://cache/0
//
// What other ways to be safe there are, and what each lets through under which fault:
// holdfast demo payout --matrix --db postgres://…
#include <holdfast/guard/pqxx.hpp>
#include <holdfast/holdfast.hpp>

#include <pqxx/pqxx>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace {

std::vector<std::int64_t> pending(pqxx::connection& database) {
  pqxx::work work{database};
  std::vector<std::int64_t> orders;
  for (const auto& row : work.exec("SELECT order_id FROM orders WHERE NOT paid ORDER BY 1")) {
    orders.push_back(row[0].as<std::int64_t>());
  }
  return orders;
}

// The row's fence and the payout change in one transaction. NOT paid: an order that a predecessor
// paid after we had read it is not paid again.
void pay(pqxx::connection& database, std::int64_t order, holdfast::Fence fence) {
  pqxx::work work{database};
  const auto taken = work.exec_params(
      "UPDATE orders SET paid = true, fence = $2 WHERE order_id = $1 AND fence < $2 AND NOT paid",
      order, holdfast::to_int(fence));
  if (taken.affected_rows() == 0) {
    holdfast::PqxxSession session{work};
    holdfast::check_row_write(session, 0,
                              {.table = "orders", .key_column = "order_id", .key = order}, fence);
  }
  work.exec_params(
      "INSERT INTO payout(order_id, amount) SELECT order_id, amount FROM orders "
      "WHERE order_id = $1",
      order);
  work.commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: example_payout DATABASE-URL STORE-URL\n";
    return 64;
  }
  try {
    holdfast::Client client{argv[2]};
    holdfast::Mutex mutex{client, "payout"};
    std::optional<holdfast::Lease> lease = mutex.try_acquire();
    if (!lease) {
      std::cout << "another instance is paying\n";
      return 75;
    }
    pqxx::connection database{argv[1]};
    std::int64_t paid = 0;
    for (const std::int64_t order : pending(database)) {
      if (lease->lost().stop_requested()) {
        break;
      }
      pay(database, order, lease->fence());
      ++paid;
    }
    lease->release();
    std::cout << "paid " << paid << " orders\n";
    return 0;
  } catch (const holdfast::Error& error) {
    std::cerr << error.what() << '\n';
    return error.code() == holdfast::failure::ownership_lost ? 76 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

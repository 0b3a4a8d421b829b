// A stranger's program that is guarded by PostgreSQL; without a server it says so.
#include <holdfast/guard/libpq.hpp>

#include <libpq-fe.h>

#include <iostream>

int main(int argc, char** argv) {
  PGconn* const connection = PQconnectdb(argc > 1 ? argv[1] : "host=/nowhere");
  holdfast::PqSession session{connection};
  std::error_code ec;
  holdfast::PostgresGuard{session}.admit("ledger", "payout", holdfast::Fence{1},
                                         holdfast::Fence::none, ec);
  std::cout << ec.message() << '\n';
  PQfinish(connection);
  return ec == holdfast::errc::invalid_options ? 0 : 1;  // no transaction is open
}

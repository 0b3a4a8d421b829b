// The settlement of a day, at 00:05 of the next, on three hosts at once. One of them does it. If it
// dies, another does; if a host comes late, by a wrong clock or by hand, nothing is done again.
//
//   CREATE TABLE sale(day date NOT NULL, amount numeric NOT NULL);
//   CREATE TABLE settlement(day date PRIMARY KEY, total numeric NOT NULL, fence bigint NOT NULL);
//
//   5 0 * * *  example_settlement postgres://app@db/shop redis://cache/0 "$(date -d yesterday +%F)"
//
// The date names the run: the same on every host, whatever its clock says when it starts.
#include <holdfast/guard/pqxx.hpp>
#include <holdfast/holdfast.hpp>

#include <pqxx/pqxx>

#include <iostream>
#include <string>

namespace {

// One row a day, written only by a fence above the one that wrote it: a runner that stalled and was
// taken over changes nothing any more.
void settle(const std::string& database_url, const std::string& day, holdfast::Fence fence) {
  pqxx::connection database{database_url};
  pqxx::work work{database};
  const auto written = work.exec_params(
      "INSERT INTO settlement(day, total, fence) "
      "SELECT $1::date, coalesce(sum(amount), 0), $2 FROM sale WHERE day = $1::date "
      "ON CONFLICT (day) DO UPDATE SET total = excluded.total, fence = excluded.fence "
      "WHERE settlement.fence < excluded.fence",
      day, holdfast::to_int(fence));
  if (written.affected_rows() == 0) {
    holdfast::PqxxSession session{work};
    holdfast::check_row_write(session, 0, {.table = "settlement", .key_column = "day", .key = day},
                              fence);
  }
  work.commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: example_settlement DATABASE-URL STORE-URL DAY\n";
    return 64;
  }
  const std::string database = argv[1];
  const std::string day = argv[3];
  try {
    holdfast::Client client{argv[2]};
    const holdfast::Once run{
        .job = "settlement", .run_id = day, .lease = {.ttl = std::chrono::seconds{5}}};
    const auto result = holdfast::run_once(
        client, run, [&](const holdfast::Lease& lease) { settle(database, day, lease.fence()); });
    switch (result) {
      case holdfast::OnceResult::ran:
        std::cout << day << " is settled\n";
        break;
      case holdfast::OnceResult::already_done:
        std::cout << day << " was settled before\n";
        break;
      case holdfast::OnceResult::running_elsewhere:
        std::cout << day << " is being settled elsewhere\n";
        break;
    }
    return 0;
  } catch (const holdfast::Error& error) {
    std::cerr << error.what() << '\n';
    return error.code() == holdfast::failure::ownership_lost ? 76 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

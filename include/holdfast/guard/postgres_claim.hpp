// holdfast/guard/postgres_claim.hpp: many workers share a table of work without any lock. Each
// takes rows that nobody else works on (FOR UPDATE SKIP LOCKED); they stay its own until its
// transaction ends, and a worker that dies gives them back.
//
//   BEGIN
//   for (const std::string& key : claim_rows(session, {.table = "job",
//                                                      .condition = "state = 'open'"}, 10)) {
//     ... the work of this row ...
//     UPDATE job SET state = 'done' WHERE id = $1
//   }
//   COMMIT
//
// Not for work that takes long or has effects outside the database: an open transaction keeps
// vacuum from cleaning, and is lost with its connection. That needs a lock.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/guard/postgres_session.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

struct PostgresQueue {
  std::string_view schema{};  // empty: the search_path decides
  std::string_view table{};   // names may be anything: they are quoted
  std::string_view key_column = "id";
  // SQL, taken as it is: never build it from what a stranger wrote. The work's transaction must
  // make it false, or the row is taken again.
  std::string_view condition = "true";
};

// Inside a transaction of yours: the keys, as text, of up to `most` rows that hold `condition` and
// that no other transaction has taken, the lowest keys first. No keys: nothing is free now.
// Errors: invalid_options if no transaction is open, `most` is not positive, or there is no such
// table or column; store_unavailable, access_denied.
std::vector<std::string> claim_rows(PostgresSession& session, const PostgresQueue& queue, int most);
std::vector<std::string> claim_rows(PostgresSession& session, const PostgresQueue& queue, int most,
                                    std::error_code& ec);

}  // namespace holdfast

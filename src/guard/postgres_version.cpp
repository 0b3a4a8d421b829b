#include <holdfast/guard/postgres_version.hpp>

#include "guard/postgres_call.hpp"

namespace holdfast {

namespace {

using guard::CountedRow;
using guard::Outcome;

Outcome check(PostgresSession& session, std::int64_t changed, const PostgresVersionedRow& row,
              std::int64_t read) {
  const CountedRow counted{row.schema, row.table, row.key_column, row.key, row.version_column};
  return check_version(changed, counted, read, [&](const CountedRow& at, std::int64_t& number) {
    return look_up(session, at, number);
  });
}

}  // namespace

void check_version_write(PostgresSession& session, std::int64_t changed,
                         const PostgresVersionedRow& row, std::int64_t read) {
  check(session, changed, row, read).raise();
}

void check_version_write(PostgresSession& session, std::int64_t changed,
                         const PostgresVersionedRow& row, std::int64_t read, std::error_code& ec) {
  ec = check(session, changed, row, read).code;
}

}  // namespace holdfast

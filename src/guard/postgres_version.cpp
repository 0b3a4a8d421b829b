#include <holdfast/guard/postgres_version.hpp>

#include "guard/postgres_call.hpp"

namespace holdfast {

namespace {

using guard::Outcome;
using guard::PostgresCounted;
using guard::told;

Outcome check(PostgresSession& session, std::int64_t changed, const PostgresVersionedRow& row,
              std::int64_t read) {
  if (changed != 0) {
    return {};
  }
  const PostgresCounted counted{row.schema, row.table, row.key_column, row.key, row.version_column};
  std::int64_t version = 0;
  if (Outcome looked = look_up(session, counted, version); looked.code) {
    return looked;
  }
  if (version != read) {
    return told(
        errc::version_conflict, counted,
        " has version " + std::to_string(version) + ", it was read as " + std::to_string(read));
  }
  return told(errc::invalid_options, counted,
              " still has this version: another condition of the UPDATE did not hold");
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

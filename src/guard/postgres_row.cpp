#include <holdfast/guard/postgres_row.hpp>

#include "guard/postgres_call.hpp"

namespace holdfast {

namespace {

using guard::CountedRow;
using guard::Outcome;

Outcome check(PostgresSession& session, std::int64_t changed, const PostgresRow& row, Fence fence) {
  const CountedRow counted{row.schema, row.table, row.key_column, row.key, row.fence_column};
  return check_fence(changed, counted, fence, [&](const CountedRow& at, std::int64_t& number) {
    return look_up(session, at, number);
  });
}

}  // namespace

void check_row_write(PostgresSession& session, std::int64_t changed, const PostgresRow& row,
                     Fence fence) {
  check(session, changed, row, fence).raise();
}

void check_row_write(PostgresSession& session, std::int64_t changed, const PostgresRow& row,
                     Fence fence, std::error_code& ec) {
  ec = check(session, changed, row, fence).code;
}

}  // namespace holdfast

#include "store/postgres/schema_sql.hpp"

namespace holdfast::postgres::sql {

const char* const sessions = R"sql()sql";

}  // namespace holdfast::postgres::sql

// How SQLite reads the number of a counted row.
#pragma once

#include "guard/counted_row.hpp"
#include "guard/sqlite_statement.hpp"

namespace holdfast::guard {

// A LookUp, but for the database.
Outcome look_up(sqlite3* database, const CountedRow& row, std::int64_t& number);

}  // namespace holdfast::guard

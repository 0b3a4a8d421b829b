// A row that carries a number (the fence of its last writer, its version, its claims), and what
// that number is now: how the row guards find out why an update changed nothing.
#pragma once

#include "guard/sqlite_statement.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::guard {

struct CountedRow {
  std::string_view table{};
  std::string_view key_column{};
  std::variant<std::int64_t, std::string_view> key{};
  std::string_view number_column{};
};

// A name as SQL takes it, whatever is in it.
std::string quoted(std::string_view name);

// A refusal that names the row: "row 7 of job" + `what`.
Outcome told(errc code, const CountedRow& row, const std::string& what);

// Reads the row's number. Outcomes: not_found; invalid_options if the number is NULL or there is no
// such table or column; what the database ran into.
Outcome look_up(sqlite3* database, const CountedRow& row, std::int64_t& number);

}  // namespace holdfast::guard

// A row that carries a number (the fence of its last writer, its version, its claims), and what an
// update that changed nothing means, given that number. The same for every SQL storage; how to read
// the number is the storage's.
#pragma once

#include <holdfast/types.hpp>

#include "guard/outcome.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::guard {

struct CountedRow {
  std::string_view schema{};  // empty: none is named
  std::string_view table{};
  std::string_view key_column{};
  std::variant<std::int64_t, std::string_view> key{};
  std::string_view number_column{};
};

// Reads the row's number. Outcomes: not_found; invalid_options if the number is NULL or there is no
// such table or column; what the storage ran into.
using LookUp = std::function<Outcome(const CountedRow& row, std::int64_t& number)>;

// What check_row_write() and check_version_write() answer. `changed`: rows that the update changed.
Outcome check_fence(std::int64_t changed, const CountedRow& row, Fence fence,
                    const LookUp& look_up);
Outcome check_version(std::int64_t changed, const CountedRow& row, std::int64_t read,
                      const LookUp& look_up);

// A name as SQL takes it, whatever is in it.
std::string quoted(std::string_view name);

std::string key_text(const CountedRow& row);

// A refusal that names the row: "row 7 of job" + `what`.
Outcome told(errc code, const CountedRow& row, const std::string& what);
Outcome told_missing(const CountedRow& row);  // there is no such row
Outcome told_null(const CountedRow& row);     // it has no number

}  // namespace holdfast::guard

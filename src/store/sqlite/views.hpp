// The tables as people see them. Each call wants one read transaction around it.
#pragma once

#include "store/sqlite/name_table.hpp"

#include <string>

namespace holdfast::sqlite {

NameView inspect(NameTable& table, const std::string& name, Instant now);

// Looks at a bounded number of rows, so a page may be short, or empty with a cursor.
Page list(NameTable& table, const std::string& prefix, const std::string& cursor, Instant now);

}  // namespace holdfast::sqlite

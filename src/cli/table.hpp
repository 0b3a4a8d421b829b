// Columns for people.
#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

// Cells left-aligned, two blanks between columns, one line a row, the last column unpadded. Width
// is counted in code points.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace holdfast::cli

// Error codes compare by the address of their category. A store module carries a copy of the code
// that makes them, so it is told at its opening which categories the program that opened it has.
#pragma once

#include <system_error>

namespace holdfast {

struct ErrorCategories {
  const std::error_category& errors;
  const std::error_category& failures;
};

// From now on error_category() and failure_category() are these. They must outlive the process.
void adopt_errors(const ErrorCategories& hosts) noexcept;

}  // namespace holdfast

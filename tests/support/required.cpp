#include "tests/support/required.hpp"

#include <cstdlib>

namespace holdfast::test {

bool is_required(std::string_view what) {
  const char* const value = std::getenv("HOLDFAST_REQUIRE");
  std::string_view list = value == nullptr ? std::string_view{} : value;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == what) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace holdfast::test

// C++ text as the rules look at it. Not a parser: enough for code that clang-format has laid out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::tidy {

struct File {
  std::string path{};  // from the project's root: "src/core/trust.hpp"
  std::string text{};
};

struct Finding {
  std::string path{};
  std::size_t line = 0;  // from 1; 0: the file as a whole
  std::string what{};
  bool operator==(const Finding&) const = default;
};

std::string to_text(const std::vector<Finding>& findings);

// The text with comments and the insides of literals blanked out; lines stay where they are.
std::string code_only(std::string_view text);

std::vector<std::string> lines_of(std::string_view text);

// Columns that a line of UTF-8 takes, one a code point.
std::size_t columns(std::string_view line);

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes);

struct Include {
  std::size_t line = 0;
  std::string path{};
  bool quoted = false;  // "path" rather than <path>
};
std::vector<Include> includes_of(std::string_view text);

}  // namespace holdfast::tidy

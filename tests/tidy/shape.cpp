#include "tests/tidy/rules.hpp"

#include <regex>

namespace holdfast::tidy {

namespace {

constexpr std::size_t columns_max = 100;
constexpr std::size_t file_lines_max = 400;
constexpr std::size_t function_lines_max = 70;

bool is_cpp(const File& file) { return file.path.ends_with(".hpp") || file.path.ends_with(".cpp"); }

// Functions at namespace scope, as clang-format lays them out: head and end are in column 0.
void check_functions(const File& file, std::vector<Finding>& findings) {
  static const std::regex other{R"(^(namespace|class|struct|enum|union|extern|template|#|\}))"};
  const std::vector<std::string> lines = lines_of(code_only(file.text));
  bool in_head = false;   // since a line in column 0 that may begin a function
  std::size_t start = 0;  // the line whose end opened the body; 0: outside
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const bool column_0 = !line.empty() && line.front() != ' ';
    if (start != 0 && line.starts_with("}")) {
      const std::size_t length = i - start;
      if (length > function_lines_max) {
        findings.push_back(
            {file.path, start, "a function of " + std::to_string(length) + " lines: at most 70"});
      }
      start = 0;
    } else if (start == 0) {
      in_head = column_0 ? !std::regex_search(line, other) : in_head;
      if (in_head && line.ends_with("{") && line.find(')') != std::string::npos) {
        start = i + 1;
      }
    }
  }
}

}  // namespace

std::vector<Finding> check_shape(const File& file) {
  std::vector<Finding> findings;
  const std::vector<std::string> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (columns(lines[i]) > columns_max && !file.path.ends_with(".md")) {
      findings.push_back({file.path, i + 1, "longer than 100 columns"});
    }
    if (!lines[i].empty() && (lines[i].back() == ' ' || lines[i].back() == '\r')) {
      findings.push_back({file.path, i + 1, "ends with white space"});
    }
  }
  if (!file.text.empty() && file.text.back() != '\n') {
    findings.push_back({file.path, lines.size(), "does not end with a line feed"});
  }
  if (is_cpp(file) && lines.size() > file_lines_max) {
    findings.push_back({file.path, 0, std::to_string(lines.size()) + " lines: at most 400"});
  }
  if (is_cpp(file) && starts_with_any(file.path, {"src/", "sim/", "include/"})) {
    check_functions(file, findings);
  }
  if (file.path.ends_with(".hpp")) {
    if (!file.text.starts_with("// ")) {
      findings.push_back({file.path, 1, "a header opens with a banner that says what it is"});
    }
    if (file.text.find("\n#pragma once\n") == std::string::npos) {
      findings.push_back({file.path, 1, "no #pragma once"});
    }
  }
  return findings;
}

std::vector<Finding> check_words(const File& file) {
  // Written in two halves, so that this file does not find itself.
  static const std::regex pattern{std::string{"\\b(TO"} + "DO|FIX" + "ME|XX" + "X|HA" +
                                  "CK)\\b|DIS" + "ABLED_|/wo" + "rk/|/tmp/" + "hf\\b|pypi\\." +
                                  "org|npmjs\\." + "org|crates\\." + "io|docker\\." + "io|ghcr\\." +
                                  "io|golang\\." + "org"};
  std::vector<Finding> findings;
  if (file.text.find('\0') != std::string::npos) {
    return findings;  // a picture, in which chance spells anything
  }
  const std::vector<std::string> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (std::regex_search(lines[i], match, pattern)) {
      findings.push_back({file.path, i + 1, "must not say " + match.str()});
    }
  }
  return findings;
}

}  // namespace holdfast::tidy

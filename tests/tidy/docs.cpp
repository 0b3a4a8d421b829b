#include "tests/tidy/rules.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

namespace holdfast::tidy {

namespace {

std::string trimmed(const std::string& line) {
  const std::size_t start = line.find_first_not_of(' ');
  return start == std::string::npos ? "" : line.substr(start, line.find_last_not_of(' ') + 1);
}

}  // namespace

std::vector<Finding> check_snippets(const File& page, const std::vector<File>& examples) {
  std::set<std::string> compiled;
  for (const File& example : examples) {
    for (const std::string& line : lines_of(example.text)) {
      compiled.insert(trimmed(line));
    }
  }
  std::vector<Finding> findings;
  bool inside = false;
  std::size_t number = 0;
  for (const std::string& line : lines_of(page.text)) {
    ++number;
    if (line.starts_with("```")) {
      inside = line == "```cpp";
    } else if (inside && !trimmed(line).empty() && compiled.count(trimmed(line)) == 0) {
      findings.push_back({page.path, number, "no file in examples/ has this line"});
    }
  }
  return findings;
}

std::vector<Finding> check_links(const File& page, const std::vector<std::string>& paths) {
  static const std::regex link{R"(\]\(([^)#: ]+)(#[^)]*)?\))"};
  const std::filesystem::path folder = std::filesystem::path{page.path}.parent_path();
  std::vector<Finding> findings;
  std::size_t number = 0;
  for (const std::string& line : lines_of(page.text)) {
    ++number;
    for (std::sregex_iterator it{line.begin(), line.end(), link}; it != std::sregex_iterator{};
         ++it) {
      const std::string target = (folder / (*it)[1].str()).lexically_normal().generic_string();
      const bool there = std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
        return path == target || path.starts_with(target + "/") ||
               (target.ends_with("/") && path.starts_with(target));
      });
      if (!there) {
        findings.push_back({page.path, number, "links to " + target + ", which is not there"});
      }
    }
  }
  return findings;
}

}  // namespace holdfast::tidy

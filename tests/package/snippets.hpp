// The jobs of docs/how-to/fence-a-write.md, run as they stand there, by each storage's test: a good
// fence writes, a stale one is refused and writes nothing.
#pragma once

#include "test_paths.hpp"
#include "tests/support/process.hpp"
#include "tests/support/required.hpp"
#include "tests/support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

using ::testing::HasSubstr;

// The code blocks of one language below a heading of the page.
inline std::vector<std::string> blocks(const std::string& heading, const std::string& language) {
  std::ifstream page{std::string{HOLDFAST_SOURCE_DIR} + "/docs/how-to/fence-a-write.md"};
  std::vector<std::string> found;
  bool below = false;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (!inside && line.starts_with("#")) {
      below = std::regex_replace(line, std::regex{"^#+ "}, "") == heading;
    } else if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      found.back() += line + "\n";
    } else if (below && line == "```" + language) {
      inside = true;
      found.emplace_back();
    }
  }
  EXPECT_FALSE(found.empty()) << heading << ": no " << language;
  found.resize(std::max<std::size_t>(found.size(), 2));
  return found;
}

class Snippets : public ::testing::Test {
 protected:
  struct Result {
    int status = 0;
    std::string output{};
  };

  Snippets() {
    std::filesystem::create_symlink(HOLDFAST_COMMAND, folder / "holdfast");
    environment = {{"PATH", folder.path().string() + ":" + std::getenv("PATH")},
                   {"HOLDFAST_NAME", "payout"}};
  }
  Result run(std::vector<std::string> words, int fence = 0) {
    ProcessOptions options{.args = std::move(words), .env = environment};
    options.env.emplace_back("HOLDFAST_FENCE", std::to_string(fence));
    options.directory = folder.path().string();
    Process process{options};
    const int status = process.wait(std::chrono::seconds{120}).value_or(-1);
    return {status, process.out() + process.err()};
  }
  Result shell(const std::string& script) { return run({"/bin/sh", "-e", "-c", script}); }
  void must(const std::string& script) {
    const Result result = shell(script);
    ASSERT_EQ(result.status, 0) << script << result.output;
  }
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = (folder / name).string();
    std::ofstream{path} << text;
    return path;
  }
  // The job succeeds with fences 10, 10 and 11, and then not with 10. `says`: of the refusal.
  // `look`: a command that shows the data, which a refused job must leave as it is.
  void expect_guarded(const std::vector<std::string>& job, const std::string& says,
                      const std::string& look) {
    for (const int fence : {10, 10, 11}) {
      const Result result = run(job, fence);
      ASSERT_EQ(result.status, 0) << result.output;
    }
    const std::string before = shell(look).output;
    const Result result = run(job, 10);
    EXPECT_NE(result.status, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr(says));
    EXPECT_EQ(shell(look).output, before);
    EXPECT_FALSE(before.empty());
  }

  TempDir folder{};
  std::vector<std::pair<std::string, std::string>> environment{};
};

}  // namespace holdfast::test

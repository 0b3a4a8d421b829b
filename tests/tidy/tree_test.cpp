// The rules of the house, applied to the project as it is.
#include "tests/tidy/tree.hpp"
#include "test_paths.hpp"
#include "tests/tidy/rules.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace holdfast::tidy {
namespace {

const std::vector<std::string> all_folders = {"include/",  "src/",   "sim/",   "tests/",
                                              "examples/", "bench/", "cmake/", "packaging/",
                                              "CMake",     "dev",    ".ci/",   ".clang"};

const std::vector<File>& files() {
  static const std::vector<File> all = project_files();
  return all;
}

template <class Rule>
std::vector<Finding> findings_in(const std::vector<File>& chosen, Rule rule) {
  std::vector<Finding> findings;
  for (const File& file : chosen) {
    const std::vector<Finding> more = rule(file);
    findings.insert(findings.end(), more.begin(), more.end());
  }
  return findings;
}

TEST(Tree, IsRead) { EXPECT_GT(select(files(), {"include/"}, {".hpp"}).size(), 10U); }

TEST(Tree, IncludesFollowTheArrows) {
  const auto findings =
      findings_in(select(files(), {"include/", "src/", "sim/"}, {".hpp", ".cpp"}), check_arrows);
  EXPECT_TRUE(findings.empty()) << to_text(findings);
}

TEST(Tree, CallsNothingThatIsBanned) {
  const auto findings = findings_in(files(), check_banned);
  EXPECT_TRUE(findings.empty()) << to_text(findings);
}

TEST(Tree, FilesHaveTheirShape) {
  const auto findings = findings_in(select(files(), all_folders, {""}), check_shape);
  EXPECT_TRUE(findings.empty()) << to_text(findings);
}

TEST(Tree, SaysNothingUnfinishedOrForeign) {
  const auto findings = findings_in(files(), check_words);
  EXPECT_TRUE(findings.empty()) << to_text(findings);
}

TEST(Tree, HasNoDeadHeaders) {
  const auto findings = check_dead_headers(files());
  EXPECT_TRUE(findings.empty()) << to_text(findings);
}

TEST(Docs, SnippetsAreCompiled) {
  const std::vector<File> examples = select(files(), {"examples/"}, {".cpp"});
  const auto findings =
      findings_in(select(files(), {"README", "docs/tutorial/", "docs/how-to/"}, {".md"}),
                  [&](const File& page) { return check_snippets(page, examples); });
  EXPECT_TRUE(findings.empty()) << to_text(findings);
}

TEST(Docs, LinksLeadSomewhere) {
  std::vector<std::string> paths;
  for (const File& file : files()) {
    paths.push_back(file.path);
  }
  const auto findings = findings_in(select(files(), {""}, {".md"}),
                                    [&](const File& page) { return check_links(page, paths); });
  EXPECT_TRUE(findings.empty()) << to_text(findings);
}

// A change of the public API shows in review as a change of this listing. HOLDFAST_UPDATE=1
// rewrites it.
TEST(Tree, ApiListingIsCurrent) {
  const std::string path = "docs/reference/api.txt";
  const std::string listing = api_listing(select(files(), {"include/holdfast/"}, {".hpp"}));
  if (std::getenv("HOLDFAST_UPDATE") != nullptr) {
    std::ofstream{std::string{HOLDFAST_SOURCE_DIR} + "/" + path} << listing;
    return;
  }
  const std::vector<File> found = select(files(), {path}, {""});
  ASSERT_EQ(found.size(), 1U) << path << " is missing";
  EXPECT_TRUE(found[0].text == listing)
      << "the public headers changed: HOLDFAST_UPDATE=1 ./dev test tidy rewrites " << path;
}

}  // namespace
}  // namespace holdfast::tidy

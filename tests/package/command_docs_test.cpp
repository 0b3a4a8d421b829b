// What the command says of itself, the man page and the reference must agree.
#include "test_paths.hpp"
#include "tests/package/scratch.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace holdfast::package {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in{std::string{HOLDFAST_SOURCE_DIR} + "/" + path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

// The man page writes each dash of an option as "\-".
std::string man_page() {
  return std::regex_replace(text_of("packaging/holdfast.1"), std::regex{R"(\\-)"}, "-");
}

std::string output_of(const Scratch& scratch, const std::string& arguments) {
  const Scratch::Result result = scratch.run(std::string{HOLDFAST_COMMAND} + " " + arguments);
  EXPECT_EQ(result.status, 0) << arguments << ": " << result.output;
  return result.output;
}

std::set<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex{pattern};
  std::set<std::string> found;
  for (std::sregex_iterator it{text.begin(), text.end(), regex}; it != std::sregex_iterator{};
       ++it) {
    found.insert((*it)[1].str());
  }
  return found;
}

std::set<std::string> commands(const Scratch& scratch) {
  return all_matches(output_of(scratch, "--help"), R"((?:^|\n)  ([a-z]+)  +\S)");
}

bool says(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex{word + R"((?![a-z-]))"});
}

TEST(CommandDocs, EveryCommandIsInTheManPageAndTheReference) {
  const Scratch scratch{"docs"};
  const std::set<std::string> names = commands(scratch);
  EXPECT_GT(names.size(), 8U);
  for (const std::string& name : names) {
    EXPECT_TRUE(says(man_page(), "[ |{]" + name)) << name << " is not in packaging/holdfast.1";
    EXPECT_TRUE(says(text_of("docs/reference/cli.md"), name)) << name << " is not in cli.md";
  }
}

TEST(CommandDocs, EveryOptionIsInTheReference) {
  const Scratch scratch{"docs"};
  const std::string reference = text_of("docs/reference/cli.md");
  for (const std::string& name : commands(scratch)) {
    for (const std::string& option :
         all_matches(output_of(scratch, name + " --help"), "(--[a-z][a-z-]*)")) {
      EXPECT_TRUE(says(reference, option)) << name << ' ' << option << " is not in cli.md";
    }
  }
}

TEST(CommandDocs, TheManPageHasTheOptionsOfRunAndNoOthers) {
  const Scratch scratch{"docs"};
  const std::set<std::string> real =
      all_matches(output_of(scratch, "run --help"), "(--[a-z][a-z-]*)");
  for (const std::string& option : real) {
    EXPECT_TRUE(says(man_page(), option)) << option << " is not in packaging/holdfast.1";
  }
  const std::string page = man_page();
  const std::size_t start = page.find(".SH OPTIONS OF RUN");
  const std::string section = page.substr(start, page.find(".SH", start + 1) - start);
  for (const std::string& option : all_matches(section, "(--[a-z][a-z-]*)")) {
    EXPECT_EQ(real.count(option), 1U) << "run has no option " << option;
  }
}

}  // namespace
}  // namespace holdfast::package

// The page: its scripts are checked as typed, and a browser shows what the lab computes.
#include "sim/stories/experiment.hpp"
#include "sim/stories/story.hpp"
#include "test_paths.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/process.hpp"
#include "tests/support/required.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* no_tsc = "there is no tsc (apt: node-typescript)";
constexpr const char* no_chromium = "there is no chromium (apt: chromium)";

fs::path page() { return fs::path{HOLDFAST_SOURCE_DIR} / "src/lab/page"; }

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// With one wrong line at the end of one script, that line is all that is found.
TEST(LabPage, ScriptsHaveTheirTypes) {
  HOLDFAST_NEEDS("tsc", is_in_path("tsc"), no_tsc);
  const TempDir folder;
  fs::copy(page(), folder / "page", fs::copy_options::recursive);
  std::ofstream{folder / "page/page.js", std::ios::app} << "\nseconds(\"soon\");\n";
  Process check({.args = {"tsc", "-p", (folder / "page").string()}});
  EXPECT_NE(check.wait(60s), 0);
  const std::string found = check.out();
  EXPECT_EQ(count_of(found, "error TS"), 1U) << found;
  EXPECT_NE(found.find("'string' is not assignable to parameter of type 'number'"),
            std::string::npos)
      << found;
}

// The document after its scripts have run.
std::string browse(const std::string& url) {
  const TempDir profile;
  Process browser({.args = {"chromium", "--headless", "--no-sandbox", "--disable-gpu",
                            "--no-first-run", "--user-data-dir=" + profile.path().string(),
                            "--virtual-time-budget=5000", "--dump-dom", url},
                   .own_group = true});
  EXPECT_EQ(browser.wait(60s), 0) << browser.err();
  return browser.out();
}

std::string text_in(const std::string& document, const std::string& id) {
  const std::size_t at = document.find("id=\"" + id + "\"");
  if (at == std::string::npos) {
    return "(there is no " + id + ")";
  }
  const std::size_t start = document.find('>', at) + 1;
  return document.substr(start, document.find('<', start) - start);
}

using Turned = std::map<std::string, bool, std::less<>>;

void expect_shown(const std::string& origin, const sim::Story& story, const Turned& turned) {
  sim::Trial trial = sim::trial_of(story, turned);
  trial.seed = 3;
  const sim::Timeline timeline = sim::tell(trial);
  std::string url = origin + "?story=" + std::string{story.name} + "&seed=3";
  for (const auto& [name, on] : turned) {
    url.append("&").append(name).append(on ? "=on" : "=off");
  }
  const std::string document = browse(url);
  EXPECT_EQ(text_in(document, "verdict"), text(timeline.verdict)) << url;
  EXPECT_EQ(text_in(document, "problem"), "") << url;
  EXPECT_EQ(count_of(document, "data-mark=\""), timeline.marks.size()) << url;
  EXPECT_EQ(count_of(document, "<li><button"), timeline.marks.size()) << url;
}

TEST(LabPage, ShowsInABrowserWhatTheLabComputes) {
  HOLDFAST_NEEDS("chromium", is_in_path("chromium"), no_chromium);
  Process lab({.args = {HOLDFAST_COMMAND, "lab"}});
  ASSERT_TRUE(eventually([&] { return lab.out().find("Ctrl-C") != std::string::npos; }));
  const std::string said = lab.out();
  const std::size_t at = said.find("http://");
  const std::string origin = said.substr(at, said.find(' ', at) - at);

  expect_shown(origin, *sim::find_story("gc-pause"), {{"pause", false}});
  expect_shown(origin, *sim::find_story("gc-pause"), {{"guard", true}});
  if (std::getenv("HOLDFAST_SOAK") != nullptr) {
    for (const sim::Story& story : sim::stories()) {
      expect_shown(origin, story, {});
      for (const sim::Switch& each : story.switches) {
        expect_shown(origin, story, {{std::string{each.name}, !each.on}});
      }
    }
  }
  const std::string wrong = browse(origin + "?story=doom");
  EXPECT_NE(text_in(wrong, "problem").find("there is no story"), std::string::npos);
}

}  // namespace

}  // namespace holdfast::test

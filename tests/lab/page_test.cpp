// The page: its scripts are checked as typed, and a browser shows what the lab computes.
#include "sim/stories/experiment.hpp"
#include "sim/stories/story.hpp"
#include "tests/lab/browser.hpp"
#include "tests/lab/lab_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/required.hpp"

#include <holdfast/mutex.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// With one wrong line at the end of one script, that line is all that is found.
TEST(LabPage, ScriptsHaveTheirTypes) {
  HOLDFAST_NEEDS("tsc", is_in_path("tsc"), "there is no tsc (apt: node-typescript)");
  const TempDir folder;
  fs::copy(fs::path{HOLDFAST_SOURCE_DIR} / "src/lab/page", folder / "page",
           fs::copy_options::recursive);
  std::ofstream{folder / "page/page.js", std::ios::app} << "\nseconds(\"soon\");\n";
  Process check({.args = {"tsc", "-p", (folder / "page").string()}});
  EXPECT_NE(check.wait(60s), 0);
  const std::string found = check.out();
  EXPECT_EQ(count_of(found, "error TS"), 1U) << found;
  EXPECT_NE(found.find("'string' is not assignable to parameter of type 'number'"),
            std::string::npos)
      << found;
}

class LabInBrowser : public testing::Test {
 protected:
  // One browser for all tests: starting it takes longer than most of them.
  static void TearDownTestSuite() { shared().reset(); }
  void SetUp() override {
    HOLDFAST_NEEDS("chromium", Browser::installed(), Browser::how_to_install);
    if (!shared()) {
      shared() = std::make_unique<Browser>();
    }
    browser().resize(1280, 1000);
  }
  void TearDown() override {
    if (shared()) {
      EXPECT_EQ(browser().take_complaints(), std::vector<std::string>{});
    }
  }

  Browser& browser() { return *shared(); }
  void open(const Lab& lab, const std::string& address) {
    browser().open(lab.url() + address);
    expect_soon(
        "document.querySelectorAll('#events button').length > 0 || "
        "document.querySelector('#problem').textContent !== ''");
  }
  // A condition on the page comes true.
  void expect_soon(const std::string& expression) {
    EXPECT_TRUE(eventually([&] { return browser().value(expression) == true; }))
        << expression << "\n"
        << browser().text("#stage");
  }
  void expect_text(const std::string& selector, const std::string& wanted) {
    EXPECT_TRUE(eventually([&] { return browser().text(selector) == wanted; }))
        << selector << ": " << browser().text(selector) << "\nwanted: " << wanted;
  }

 private:
  static std::unique_ptr<Browser>& shared() {
    static std::unique_ptr<Browser> browser;
    return browser;
  }
};

using Turned = std::map<std::string, bool, std::less<>>;

std::string verdict_of(const sim::Story& story, const Turned& turned, std::uint64_t seed) {
  sim::Trial trial = sim::trial_of(story, turned);
  trial.seed = seed;
  return text(sim::tell(trial).verdict);
}

TEST_F(LabInBrowser, EveryStoryShowsItsVerdictWithAndWithoutEachSwitch) {
  const Lab lab;
  for (const sim::Story& story : sim::stories()) {
    open(lab, "?seed=3&story=" + std::string{story.name});
    expect_text("#verdict", verdict_of(story, {}, 3));
    EXPECT_EQ(browser().text("#before"), story.before);
    EXPECT_EQ(browser().text("#problem"), "");
    for (const sim::Switch& each : story.switches) {
      const std::string box = "#switches input[name=" + std::string{each.name} + "]";
      browser().click(box);
      expect_text("#verdict", verdict_of(story, {{std::string{each.name}, !each.on}}, 3));
      browser().click(box);
      expect_text("#verdict", verdict_of(story, {}, 3));
    }
  }
}

TEST_F(LabInBrowser, ThePictureAndTheListAgreeOnEveryEvent) {
  const Lab lab;
  open(lab, "?story=failover&seed=4");
  const auto marks = browser().value(
      "[...document.querySelectorAll('#picture [data-mark] title')].map(t => "
      "t.textContent.split(' s: ')[1])");
  const auto listed = browser().value(
      "[...document.querySelectorAll('#events button')].map(b => b.textContent.split(' s  ')[1])");
  EXPECT_GT(marks.size(), 20U);
  EXPECT_EQ(marks, listed);
}

TEST_F(LabInBrowser, TheAddressCarriesEverything) {
  const Lab lab;
  open(lab, "");
  EXPECT_EQ(browser().value("location.search"), "?story=gc-pause&seed=1");
  browser().click("#switches input[name=guard]");
  browser().click("#seed-after");
  expect_soon("location.search === '?story=gc-pause&guard=on&seed=2'");
  const std::string verdict = verdict_of(*sim::find_story("gc-pause"), {{"guard", true}}, 2);
  expect_text("#verdict", verdict);
  open(lab, "?story=gc-pause&guard=on&seed=2");
  expect_text("#verdict", verdict);
  EXPECT_EQ(browser().value("document.querySelector('#save').getAttribute('href')"),
            "/api/picture?story=gc-pause&guard=on&seed=2");
}

TEST_F(LabInBrowser, KeysStepScrubZoomAndPlay) {
  const Lab lab;
  open(lab, "?story=gc-pause&seed=7");
  const auto clock = [&] { return browser().value("document.querySelector('#clock').value"); };
  browser().press("Home");
  EXPECT_EQ(clock(), "0.000 s");
  browser().press("ArrowRight");
  const std::string first = browser().text("#events li:nth-child(1) button");
  EXPECT_TRUE(first.starts_with(clock().get<std::string>())) << first;
  EXPECT_EQ(browser().text("#events [aria-current=true]"), first);
  browser().press("ArrowRight");
  EXPECT_EQ(browser().text("#events [aria-current=true]"),
            browser().text("#events li:nth-child(2) button"));
  browser().press("ArrowLeft");
  EXPECT_EQ(browser().text("#events [aria-current=true]"), first);
  EXPECT_TRUE(first.ends_with(browser().text("#event"))) << browser().text("#event");
  browser().press("Home");
  browser().press("ArrowRight", true);
  EXPECT_EQ(clock(), "0.100 s");

  const auto ticks = [&] {
    return browser().value(
        "[...document.querySelectorAll('#picture text[text-anchor=middle]')]"
        ".map(t => t.textContent).join()");
  };
  const auto all = ticks();
  browser().press("+");
  EXPECT_TRUE(eventually([&] { return ticks() != all; }));
  browser().press("0");
  EXPECT_TRUE(eventually([&] { return ticks() == all; }));

  browser().press(" ");
  expect_soon("Number(document.querySelector('#scrub').value) > 300");
  EXPECT_EQ(browser().text("#play"), "Pause");
  browser().press(" ");
  EXPECT_EQ(browser().text("#play"), "Play");
  browser().press("End");
  EXPECT_EQ(browser().value("document.querySelector('#scrub').value === "
                            "document.querySelector('#scrub').max"),
            true);
}

TEST_F(LabInBrowser, TheSliderAndClicksMoveThePlayhead) {
  const Lab lab;
  open(lab, "?story=gc-pause&seed=7");
  browser().value(
      "(() => { const s = document.querySelector('#scrub'); s.value = 2000;"
      "s.dispatchEvent(new Event('input')); })()");
  EXPECT_EQ(browser().value("document.querySelector('#clock').value"), "2.000 s");
  browser().click("#picture .doubled");
  EXPECT_NE(browser().text("#event").find("ONCE MORE"), std::string::npos);
  EXPECT_NE(browser().text("#events [aria-current=true]").find("ONCE MORE"), std::string::npos);
  browser().click("#picture .paused");
  browser().click("#events li:nth-child(1) button");
  EXPECT_TRUE(browser().text("#events li:nth-child(1) button").ends_with(browser().text("#event")));
}

TEST_F(LabInBrowser, FreePlayTurnsKnobsAndFindsASeedThatBreaks) {
  const Lab lab;
  open(lab, "?story=free");
  browser().value(
      "(() => { const i = document.querySelector('#switches input[name=ttl]');"
      "i.value = '2s'; i.dispatchEvent(new Event('change')); })()");
  expect_soon("location.search === '?story=free&ttl=2s&seed=1'");
  browser().click("#hunt");
  expect_soon("document.querySelector('#hunted').textContent.includes('breaks')");
  expect_soon("document.querySelector('#verdict').classList.contains('broken')");
  expect_soon("document.querySelector('#seed').value !== '1'");
  browser().value(
      "(() => { const i = document.querySelector('#switches input[name=ttl]');"
      "i.value = 'soon'; i.dispatchEvent(new Event('change')); })()");
  expect_text("#problem", "ttl=soon is not a time from 500ms to 600s");
}

// Twenty instances for an hour: the playhead keeps up with a hand on the slider.
TEST_F(LabInBrowser, ScrubsThroughAnHourSmoothly) {
  if (std::getenv("HOLDFAST_SOAK") == nullptr) {
    GTEST_SKIP() << "a measurement, for a quiet machine: HOLDFAST_SOAK=1";
  }
  const Lab lab;
  open(lab, "?story=free&instances=20&orders=500&work=7s&length=3600s&pause=0s");
  const double frames = browser().value(
      "new Promise(done => { const s = document.querySelector('#scrub'); let n = 0;"
      "const start = performance.now(); const frame = now => { if (now - start > 3000) {"
      "done(n / (now - start) * 1000); return; } ++n; s.value = Number(s.max) * (n % 90) / 90;"
      "s.dispatchEvent(new Event('input')); requestAnimationFrame(frame); };"
      "requestAnimationFrame(frame); })");
  RecordProperty("frames_per_second", std::to_string(frames));
  EXPECT_GE(frames, 30) << "frames a second";
}

TEST_F(LabInBrowser, IsUsableOnANarrowScreen) {
  const Lab lab;
  browser().resize(360, 740);
  open(lab, "?story=gc-pause");
  EXPECT_LE(browser().value("document.documentElement.scrollWidth").get<int>(), 360);
}

TEST_F(LabInBrowser, ShowsLiveLocksAndBreaksOneWhenToldTo) {
  HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
  const RedisServer redis;
  Client client{redis.url()};
  Mutex mutex{client, "payout", {.ttl = 30s, .note = "nightly"}};
  std::optional<Lease> lease = mutex.acquire();
  std::future<void> waiter =
      std::async(std::launch::async, [&] { mutex.acquire({.timeout = 20s}).release(); });
  const Lab lab{{"--store", redis.url(), "--allow-break"}};
  open(lab, "");
  browser().click("#tab-locks");
  expect_soon("document.querySelector('#locks-rows').textContent.includes('nightly')");
  expect_soon("document.querySelectorAll('#locks-rows td:nth-child(6) div').length === 1");
  browser().click("#locks-rows button");
  EXPECT_NE(browser().text("#confirm-text").find("Take payout away from"), std::string::npos);
  EXPECT_NE(browser().text("#confirm-text").find("(nightly)"), std::string::npos);
  browser().click("#confirm button[value=no]");
  EXPECT_FALSE(lease->lost().stop_requested());
  browser().click("#locks-rows button");
  browser().click("#confirm button[value=yes]");
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
  lease.reset();
  EXPECT_NO_THROW(waiter.get());
  expect_soon("!document.querySelector('#locks-none').hidden");
  expect_soon("document.querySelectorAll('#locks-events li').length > 0");
}

}  // namespace

}  // namespace holdfast::test

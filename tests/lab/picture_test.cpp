// Pictures are judged by what is in them, not by their bytes.
#include "lab/picture.hpp"

#include "lab/svg.hpp"
#include "lab/timeline_json.hpp"
#include "sim/stories/experiment.hpp"
#include "test_paths.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <regex>

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// Every element that is opened is closed, in order.
void expect_well_formed(const std::string& svg) {
  static const std::regex tag{R"(<(/?)([a-z]+)([^<>]*?)(/?)>)"};
  std::vector<std::string> open;
  for (std::sregex_iterator it{svg.begin(), svg.end(), tag}; it != std::sregex_iterator{}; ++it) {
    const std::smatch& match = *it;
    if (match[1].length() != 0) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), match[2].str());
      open.pop_back();
    } else if (match[4].length() == 0) {
      open.push_back(match[2].str());
    }
  }
  EXPECT_TRUE(open.empty());
}

PictureOptions options_of(const sim::Story& story, const sim::Timeline& timeline) {
  PictureOptions options;
  options.title = story.title;
  options.before = story.before;
  options.after = sim::moral(story, timeline);
  return options;
}

TEST(Picture, HasEveryEventAndSpanOfTheTimeline) {
  for (const sim::Story& story : sim::stories()) {
    const sim::Timeline timeline = sim::tell(sim::trial_of(story, {}));
    const std::string svg = draw(timeline, options_of(story, timeline));
    expect_well_formed(svg);
    EXPECT_EQ(count_of(svg, "data-mark=\""), timeline.marks.size()) << story.name;
    EXPECT_EQ(count_of(svg, "class=\"span "), timeline.spans.size()) << story.name;
    EXPECT_EQ(count_of(svg, "class=\"lane\""), timeline.lanes.size()) << story.name;
    for (const sim::Mark& mark : timeline.marks) {
      EXPECT_NE(svg.find(escape_xml(mark.text)), std::string::npos) << mark.text;
    }
    EXPECT_NE(svg.find(escape_xml(text(timeline.verdict))), std::string::npos) << story.name;
    EXPECT_EQ(svg.find("=\"nan"), std::string::npos) << story.name;
    EXPECT_EQ(svg.find("=\"inf"), std::string::npos) << story.name;
    EXPECT_EQ(svg, draw(timeline, options_of(story, timeline))) << story.name;
  }
}

// The page lists what JSON says and shows what the picture says.
TEST(Picture, AndJsonAgreeOnEveryEvent) {
  for (const sim::Story& story : sim::stories()) {
    Request request;
    request.story = &story;
    request.trial = sim::trial_of(story, {});
    const sim::Timeline timeline = sim::tell(request.trial);
    const std::string svg = draw(timeline, {});
    const auto json = to_json(request, timeline);
    ASSERT_EQ(json["events"].size(), timeline.marks.size());
    std::size_t from = 0;
    for (std::size_t i = 0; i < json["events"].size(); ++i) {
      const std::string opening = "class=\"mark " + json["events"][i]["kind"].get<std::string>() +
                                  "\" data-mark=\"" + std::to_string(i) + "\">";
      from = svg.find(opening, from);
      ASSERT_NE(from, std::string::npos) << story.name << ' ' << i;
      const std::string said = escape_xml(json["events"][i]["text"].get<std::string>());
      EXPECT_LT(svg.find(said, from), svg.find("</title>", from)) << said;
    }
  }
}

TEST(Picture, NothingIsDrawnOutsideOfIt) {
  static const std::regex place{R"re(<rect x="(-?[0-9.]+)"[^>]* width="([0-9.]+)")re"};
  const sim::Timeline timeline = sim::tell(sim::trial_of(*sim::find_story("failover"), {}));
  for (const PictureOptions& options :
       {PictureOptions{}, PictureOptions{.from = 2s, .to = 4s}, PictureOptions{.width = 340}}) {
    const std::string svg = draw(timeline, options);
    for (std::sregex_iterator it{svg.begin(), svg.end(), place}; it != std::sregex_iterator{};
         ++it) {
      EXPECT_GE(std::stod((*it)[1]), 0);
      EXPECT_LE(std::stod((*it)[1]) + std::stod((*it)[2]), options.width + 0.2) << (*it)[0];
    }
  }
}

TEST(Picture, APartShowsTheEventsOfThatPart) {
  const sim::Timeline timeline = sim::tell(sim::trial_of(*sim::find_story("gc-pause"), {}));
  const auto inside = std::ranges::count_if(
      timeline.marks, [](const sim::Mark& mark) { return mark.at >= 2s && mark.at <= 5s; });
  const std::size_t shown = count_of(draw(timeline, {.from = 2s, .to = 5s}), "data-mark=\"");
  EXPECT_GE(shown, static_cast<std::size_t>(inside));
  EXPECT_LT(shown, timeline.marks.size());
}

TEST(Picture, TextIsEscaped) {
  EXPECT_EQ(escape_xml(R"(<a href="x">&)"), "&lt;a href=&quot;x&quot;&gt;&amp;");
  EXPECT_EQ(number(-1.0), "-1");
  EXPECT_EQ(number(1.25), "1.2");
}

// `./dev pictures` draws them anew. Times differ whenever the simulator changes; what a picture is
// there to show must not.
TEST(Picture, ThoseOfTheDocsShowWhatTheStoriesCompute) {
  const std::vector<std::pair<std::string, std::map<std::string, bool, std::less<>>>> committed{
      {"setnx-expire", {}},
      {"foreign-del", {}},
      {"silence", {}},
      {"gc-pause", {}},
      {"gc-pause-guard", {{"guard", true}}},
      {"failover", {}}};
  for (const auto& [name, turned] : committed) {
    std::ifstream in{std::string{HOLDFAST_SOURCE_DIR} + "/docs/pictures/" + name + ".svg"};
    const std::string svg{std::istreambuf_iterator<char>{in}, {}};
    ASSERT_FALSE(svg.empty()) << name;
    const bool guarded = name == "gc-pause-guard";
    const sim::Story& story = *sim::find_story(guarded ? "gc-pause" : name);
    const sim::Timeline timeline = sim::tell(sim::trial_of(story, turned));
    for (const std::string_view line : {story.title, sim::moral(story, timeline)}) {
      const std::string start = escape_xml(line.substr(0, 60));
      EXPECT_NE(svg.find(start), std::string::npos) << name << ": run ./dev pictures";
    }
    const std::string drawn = draw(timeline, options_of(story, timeline));
    for (const char* const kind : {"mark doubled", "mark refused", "mark robbed", "mark wrote"}) {
      EXPECT_EQ(count_of(svg, kind) > 0, count_of(drawn, kind) > 0)
          << name << ' ' << kind << ": run ./dev pictures";
    }
  }
}

}  // namespace

}  // namespace holdfast::lab

#include "lab/drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace holdfast::lab {

using sim::LaneKind;
using sim::Span;
using sim::SpanKind;
using sim::Timeline;

namespace {

constexpr double label_width = 150;
constexpr double right_edge = 16;
constexpr double axis_height = 26;
constexpr double legend_height = 46;
constexpr const char* sans = "system-ui, sans-serif";

// Letters that fit into a line.
std::size_t columns_of(int width) { return static_cast<std::size_t>(width / 6.6); }
std::size_t bold_columns(int width) { return static_cast<std::size_t>(width / 7.8); }

// One, two or five times a power of ten: about eight of them in the picture.
double tick_of(double span) {
  double tick = std::pow(10.0, std::floor(std::log10(span / 8)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (span / tick > 12) {
      tick *= factor;
    }
  }
  return tick;
}

}  // namespace

const std::string& colour_of(std::size_t instance) {
  static const std::array<std::string, 6> colours{"#0072b2", "#d98a00", "#009e73",
                                                  "#cc79a7", "#3a9bd9", "#a65628"};
  return colours.at(instance % colours.size());
}

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = std::min(start + columns, text.size());
    if (end < text.size()) {
      const std::size_t blank = text.rfind(' ', end);
      end = blank == std::string::npos || blank <= start ? end : blank;
    }
    lines.push_back(text.substr(start, end - start));
    start = end + (end < text.size() && text[end] == ' ' ? 1 : 0);
  }
  return lines;
}

Drawing::Drawing(const Timeline& timeline, const PictureOptions& options)
    : timeline_(timeline),
      options_(options),
      layout_(layout_of(timeline, options)),
      from_(seconds(options.from)),
      to_(seconds(options.to > Duration{0} ? options.to : timeline.length)) {}

double Drawing::x(Duration at) const {
  const double share = (seconds(at) - from_) / (to_ - from_);
  return layout_.left + share * (layout_.right - layout_.left);
}

double Drawing::inside(double where) const {
  return std::clamp(where, layout_.left, layout_.right);
}

std::string Drawing::draw() {
  svg_.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                    {"viewBox", "0 0 " + number(options_.width) + " " + number(layout_.height)},
                    {"width", number(options_.width)},
                    {"height", number(layout_.height)},
                    {"font-family", sans},
                    {"font-size", "12"},
                    {"fill", ink},
                    {"role", "img"}});
  if (!options_.title.empty()) {
    svg_.element("title", {}, options_.title);
  }
  svg_.element("desc", {}, text(timeline_.verdict));
  definitions();
  svg_.element("rect",
               {{"width", "100%"}, {"height", number(layout_.height)}, {"fill", "#ffffff"}});
  head();
  lanes();
  axis();
  for (const bool behind : {true, false}) {  // what a process believes lies on what it does
    for (const Span& span : timeline_.spans) {
      if (behind == (span.kind == SpanKind::paused || span.kind == SpanKind::down)) {
        draw_span(span);
      }
    }
  }
  for (const Span& span : timeline_.spans) {
    if (span.kind == SpanKind::paused) {
      plate(span, "stands still");
    }
  }
  for (std::size_t i = 0; i < timeline_.marks.size(); ++i) {
    draw_mark(timeline_.marks[i], i);
  }
  legend();
  svg_.close("svg");
  return svg_.take();
}

void Drawing::definitions() {
  svg_.open("defs", {});
  for (std::size_t i = 0; i < timeline_.lanes.size(); ++i) {
    if (timeline_.lanes[i].kind == LaneKind::instance) {
      hatch("margin" + std::to_string(i), colour_of(i), "45");
    }
  }
  hatch("stopped", "#555555", "-45");
  svg_.close("defs");
}

void Drawing::hatch(const std::string& id, const std::string& colour, const std::string& angle) {
  svg_.open("pattern", {{"id", id},
                        {"width", "6"},
                        {"height", "6"},
                        {"patternUnits", "userSpaceOnUse"},
                        {"patternTransform", "rotate(" + angle + ")"}});
  svg_.element("rect", {{"width", "6"}, {"height", "6"}, {"fill", "#ffffff"}});
  svg_.element("rect", {{"width", "2.5"}, {"height", "6"}, {"fill", colour}});
  svg_.close("pattern");
}

void Drawing::words(double at_x, double at_y, const std::string& text_shown,
                    const std::string& anchor, const std::string& colour,
                    const std::string& weight) {
  svg_.element("text",
               {{"x", number(at_x)},
                {"y", number(at_y)},
                {"text-anchor", anchor},
                {"fill", colour},
                {"font-weight", weight}},
               text_shown);
}

void Drawing::head() {
  if (options_.title.empty()) {
    return;
  }
  svg_.element("text", {{"x", "12"}, {"y", "26"}, {"font-size", "17"}, {"font-weight", "bold"}},
               options_.title);
  double at = 46;
  const auto columns = columns_of(options_.width);
  for (const std::string& line : wrapped(options_.before, columns)) {
    words(12, at, line);
    at += line_height;
  }
  for (const std::string& line : wrapped(text(timeline_.verdict), bold_columns(options_.width))) {
    words(12, at, line, "start", timeline_.verdict.broken ? alarm : "#00613f", "bold");
    at += line_height;
  }
  for (const std::string& line : wrapped(options_.after, columns)) {
    words(12, at, line);
    at += line_height;
  }
}

void Drawing::lanes() {
  for (std::size_t i = 0; i < timeline_.lanes.size(); ++i) {
    const bool instance = timeline_.lanes[i].kind == LaneKind::instance;
    svg_.element("rect", {{"class", "lane"},
                          {"x", "0"},
                          {"y", number(y(i))},
                          {"width", number(options_.width)},
                          {"height", number(lane_height)},
                          {"fill", i % 2 == 0 ? "#f4f4f2" : "#ffffff"}});
    if (instance) {
      svg_.element("rect", {{"x", "8"},
                            {"y", number(y(i) + 17)},
                            {"width", "11"},
                            {"height", "11"},
                            {"fill", colour_of(i)}});
    }
    words(instance ? 25 : 8, y(i) + 27, timeline_.lanes[i].label, "start", ink, "bold");
  }
}

void Drawing::axis() {
  const double bottom = y(timeline_.lanes.size());
  const double tick = tick_of(to_ - from_);
  const auto first = static_cast<std::int64_t>(std::ceil(from_ / tick));
  const auto last = static_cast<std::int64_t>(std::floor(to_ / tick + 1e-9));
  for (std::int64_t i = first; i <= last; ++i) {
    const double at = static_cast<double>(i) * tick;
    const double where = x(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(at)));
    svg_.element("line", {{"x1", number(where)},
                          {"x2", number(where)},
                          {"y1", number(layout_.top)},
                          {"y2", number(bottom + 5)},
                          {"stroke", "#d5d5d0"}});
    words(where, bottom + 18, number(at) + " s", "middle");
  }
}

void Drawing::legend() {
  const double top = y(timeline_.lanes.size()) + axis_height + 6;
  const std::array<std::string, 2> lines{
      "bar: trusts its lease  \u00b7  hatched in colour: safety margin before the TTL  \u00b7  "
      "hatched grey: stands still  \u00b7  black: works on an order",
      "dot: paid  \u00b7  diamond 2: paid once more  \u00b7  struck circle: refused  \u00b7  "
      "cross: lost, ended or crashed  \u00b7  red line: trouble  \u00b7  time: an onlooker's"};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    words(12, top + 12 + static_cast<double>(i) * line_height, lines.at(i), "start", "#555555");
  }
}

PictureLayout layout_of(const Timeline& timeline, const PictureOptions& options) {
  PictureLayout layout;
  layout.left = label_width;
  layout.right = options.width - right_edge;
  layout.lane_height = Drawing::lane_height;
  layout.top = 8;
  if (!options.title.empty()) {
    const auto columns = columns_of(options.width);
    const std::size_t lines = wrapped(options.before, columns).size() +
                              wrapped(text(timeline.verdict), bold_columns(options.width)).size() +
                              wrapped(options.after, columns).size();
    layout.top = 38 + Drawing::line_height * static_cast<double>(lines);
  }
  layout.height = layout.top + Drawing::lane_height * static_cast<double>(timeline.lanes.size()) +
                  axis_height + legend_height;
  return layout;
}

std::string draw(const Timeline& timeline, const PictureOptions& options) {
  return Drawing{timeline, options}.draw();
}

}  // namespace holdfast::lab

// What is inside the frame: spans and marks.
#include "lab/drawing.hpp"

#include <algorithm>

namespace holdfast::lab {

using sim::Mark;
using sim::MarkKind;
using sim::Span;
using sim::SpanKind;

namespace {

// "…01204567": the digits in which the fences of one picture differ.
std::string short_fence(Fence fence) {
  constexpr std::size_t digits = 8;
  const std::string all = std::to_string(to_int(fence));
  return all.size() <= digits ? all : "\u2026" + all.substr(all.size() - digits);
}

}  // namespace

void Drawing::bar(const Span& span, double top, double height, const std::string& fill,
                  const std::string& stroke) {
  const double left = inside(x(span.from));
  const double right = inside(x(span.to));
  svg_.element("rect", {{"x", number(left)},
                        {"y", number(y(span.lane) + top)},
                        {"width", number(std::max(right - left, 0.5))},
                        {"height", number(height)},
                        {"fill", fill},
                        {"stroke", stroke}});
}

void Drawing::label(const Span& span, double top, const std::string& shown,
                    const std::string& colour) {
  const double left = inside(x(span.from));
  const double room = inside(x(span.to)) - left;
  if (room > 7.0 * static_cast<double>(shown.size()) + 12) {
    words(left + 10, y(span.lane) + top, shown, "start", colour);
  }
}

void Drawing::draw_span(const Span& span) {
  if (x(span.to) < layout_.left || x(span.from) > layout_.right) {
    return;
  }
  svg_.open("g", {{"class", "span " + std::string{word(span.kind)}}});
  svg_.element(
      "title", {},
      span.text + ", " + number(seconds(span.from)) + " s to " + number(seconds(span.to)) + " s" +
          (span.fence == Fence::none ? "" : ", fence " + std::to_string(to_int(span.fence))));
  shape_of(span);
  svg_.close("g");
}

void Drawing::shape_of(const Span& span) {
  const std::size_t who = span.who.value_or(0);
  switch (span.kind) {
    case SpanKind::waits:
      bar(span, 22, 2, "#9a9a95", "none");
      break;
    case SpanKind::believes:
      bar(span, 8, 22, colour_of(who), "none");
      label(span, 23, "has it", "#ffffff");
      break;
    case SpanKind::margin:
      bar(span, 8, 22, "url(#margin" + std::to_string(who) + ")", colour_of(who));
      break;
    case SpanKind::holds:
      bar(span, 10, 26, colour_of(who), "none");
      label(span, 27,
            "#" + std::to_string(who + 1) +
                (span.fence == Fence::none ? "" : " fence " + short_fence(span.fence)),
            "#ffffff");
      break;
    case SpanKind::works:
      bar(span, 33, 6, ink, "none");
      break;
    case SpanKind::paused:
      bar(span, 5, 37, "url(#stopped)", "#555555");
      break;
    case SpanKind::down:
      bar(span, 5, 37, "#444444", "none");
      label(span, 27, "down", "#ffffff");
      break;
    case SpanKind::trouble:
      bar(span, 2, 3, alarm, "none");
      break;
  }
}

// A label that stays readable on hatching.
void Drawing::plate(const Span& span, const std::string& shown) {
  if (x(span.to) < layout_.left || x(span.from) > layout_.right) {
    return;
  }
  const double right = inside(x(span.to));
  const double width = 7.0 * static_cast<double>(shown.size());
  if (right - inside(x(span.from)) > width + 12) {
    svg_.element("rect", {{"x", number(right - width - 6)},
                          {"y", number(y(span.lane) + 15)},
                          {"width", number(width)},
                          {"height", "17"},
                          {"fill", "#ffffff"}});
    words(right - width / 2 - 6, y(span.lane) + 28, shown, "middle");
  }
}

void Drawing::path(double at_x, double at_y, const std::string& shape, const std::string& fill,
                   const std::string& stroke) {
  svg_.element("path", {{"transform", "translate(" + number(at_x) + " " + number(at_y) + ")"},
                        {"d", shape},
                        {"fill", fill},
                        {"stroke", stroke},
                        {"stroke-width", "2"}});
}

void Drawing::draw_mark(const Mark& mark, std::size_t index) {
  const double at = x(mark.at);
  if (at < layout_.left - 1 || at > layout_.right + 1) {
    return;
  }
  svg_.open("g", {{"class", "mark " + std::string{word(mark.kind)}},
                  {"data-mark", std::to_string(index)}});
  svg_.element("title", {}, number(seconds(mark.at)) + " s: " + mark.text);
  shape_of(mark, at);
  svg_.close("g");
}

// From the instance down to where its write arrived.
void Drawing::thread(const Mark& mark, double at) {
  if (mark.who) {
    svg_.element("line", {{"x1", number(at)},
                          {"x2", number(at)},
                          {"y1", number(y(*mark.who) + 40)},
                          {"y2", number(y(mark.lane) + 6)},
                          {"stroke", alarm},
                          {"stroke-dasharray", "3 3"}});
  }
}

void Drawing::shape_of(const Mark& mark, double at) {
  const double top = y(mark.lane);
  const std::string colour = mark.who ? colour_of(*mark.who) : ink;
  switch (mark.kind) {
    case MarkKind::wrote:
      path(at, top + 36, "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", colour, "none");
      break;
    case MarkKind::torn:
      thread(mark, at);
      path(at, top + 16, "M0,-10L10,0L0,10L-10,0Z", alarm, "none");
      words(at, top + 20, "!", "middle", "#ffffff", "bold");
      break;
    case MarkKind::doubled:
      thread(mark, at);
      path(at, top + 16, "M0,-10L10,0L0,10L-10,0Z", alarm, "none");
      words(at, top + 20, "2", "middle", "#ffffff", "bold");
      break;
    case MarkKind::refused:
      thread(mark, at);
      path(at, top + 16, "M-8,0a8,8 0 1,0 16,0a8,8 0 1,0 -16,0M-5,-5L5,5", "#ffffff", ink);
      break;
    case MarkKind::granted:
    case MarkKind::handed_on:
    case MarkKind::started:
      path(at, top + 19, "M0,-9L0,9M0,-9L7,-5L0,-1", colour, ink);
      break;
    case MarkKind::renewed:
      path(at, top + 8, "M0,0L0,6", "none", "#ffffff");
      break;
    case MarkKind::lost:
    case MarkKind::expired:
    case MarkKind::gave_up:
    case MarkKind::crashed:
    case MarkKind::robbed:
    case MarkKind::objected:
      path(at, top + 19, "M-6,-6L6,6M-6,6L6,-6", "none", alarm);
      break;
    case MarkKind::clock_jumped:
    case MarkKind::forgot:
      path(at, top + 8, "M-6,-5L6,-5L0,5Z", alarm, "none");
      break;
    case MarkKind::message_lost:
      path(at, top + 38, "M-3,-3L3,3M-3,3L3,-3", "none", "#7a7a75");
      break;
    case MarkKind::released:
    case MarkKind::paused:
    case MarkKind::resumed:
      path(at, top + 6, "M0,0L0,34", "none", ink);
      break;
    case MarkKind::queued:
    case MarkKind::read:
      path(at, top + 40, "M-2,0a2,2 0 1,0 4,0a2,2 0 1,0 -4,0", colour, "none");
      break;
  }
}

}  // namespace holdfast::lab

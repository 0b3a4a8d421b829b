// A timeline as SVG: one drawing for files, for the docs and for the page, which puts a playhead
// over it. Every span and mark is an element with a <title>, in the order of the timeline.
//
//   const std::string svg = draw(timeline, {.title = "A pause", .before = "Watch ..."});
//
// Instances differ by colour and by number, kinds by shape and hatching: it can be read without
// colours and on paper. No scripts, no styles, no references: any viewer shows it.
#pragma once

#include "sim/timeline/timeline.hpp"

#include <string>

namespace holdfast::lab {

struct PictureOptions {
  std::string title{};   // unset: no head, as the page wants it
  std::string before{};  // what to look out for
  std::string after{};   // what it came to
  Duration from{};       // what part of it; to = 0: up to the end
  Duration to{};
  int width = 960;
};

// Where things are, for whoever draws on top of it.
struct PictureLayout {
  double left = 0;  // x of `from`
  double right = 0;
  double top = 0;  // y of the first lane
  double lane_height = 0;
  double height = 0;  // of all
};

std::string draw(const sim::Timeline& timeline, const PictureOptions& options);
PictureLayout layout_of(const sim::Timeline& timeline, const PictureOptions& options);

}  // namespace holdfast::lab

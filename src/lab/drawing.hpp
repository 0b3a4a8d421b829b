// The drawing behind picture.hpp: a frame, and in it spans and marks. Not for anybody else.
#pragma once

#include "lab/picture.hpp"
#include "lab/svg.hpp"

#include <string>
#include <vector>

namespace holdfast::lab {

class Drawing {
 public:
  // Both must outlive it.
  Drawing(const sim::Timeline& timeline, const PictureOptions& options);
  std::string draw();

  static constexpr double lane_height = 46;
  static constexpr double line_height = 17;
  static constexpr const char* ink = "#1a1a1a";
  static constexpr const char* alarm = "#b00020";

 private:
  double x(Duration at) const;
  double inside(double where) const;  // of what is shown
  double y(std::size_t lane) const { return layout_.top + static_cast<double>(lane) * lane_height; }

  void definitions();
  void hatch(const std::string& id, const std::string& colour, const std::string& angle);
  void words(double at_x, double at_y, const std::string& text_shown,
             const std::string& anchor = "start", const std::string& colour = ink,
             const std::string& weight = "normal");
  void head();
  void lanes();
  void axis();
  void legend();

  void draw_span(const sim::Span& span);
  void shape_of(const sim::Span& span);
  void bar(const sim::Span& span, double top, double height, const std::string& fill,
           const std::string& stroke);
  void label(const sim::Span& span, double top, const std::string& shown,
             const std::string& colour);
  void plate(const sim::Span& span, const std::string& shown);

  void draw_mark(const sim::Mark& mark, std::size_t index);
  void shape_of(const sim::Mark& mark, double at);
  void path(double at_x, double at_y, const std::string& shape, const std::string& fill,
            const std::string& stroke);
  void thread(const sim::Mark& mark, double at);

  const sim::Timeline& timeline_;
  const PictureOptions& options_;
  PictureLayout layout_;
  double from_ = 0;  // in seconds
  double to_ = 0;
  SvgWriter svg_{};
};

// Okabe and Ito's colours, which the colour-blind can tell apart; dark enough for white paper.
const std::string& colour_of(std::size_t instance);
double seconds(Duration time);
// Words to lines of at most `columns`.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns);

}  // namespace holdfast::lab

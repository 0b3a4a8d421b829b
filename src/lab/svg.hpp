// Writes SVG text. Numbers never depend on the locale, texts and values are escaped.
//
//   SvgWriter svg;
//   svg.open("g", {{"class", "lane"}}).element("rect", {{"x", number(1.5)}}).close("g");
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::lab {

std::string escape_xml(std::string_view text);
std::string number(double value);  // at most one digit behind the point

class SvgWriter {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

  SvgWriter& open(std::string_view name, Attributes attributes);
  SvgWriter& close(std::string_view name);
  SvgWriter& element(std::string_view name, Attributes attributes);
  // With `inner` as text, which is escaped.
  SvgWriter& element(std::string_view name, Attributes attributes, std::string_view inner);
  std::string take() { return std::move(text_); }

 private:
  void tag(std::string_view name, Attributes attributes);
  std::string text_{};
};

}  // namespace holdfast::lab
